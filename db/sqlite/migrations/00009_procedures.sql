-- +goose Up

-- Texts for the model: for an app, an agent or a user (holder).
CREATE TABLE instructions (
    app_id     TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    scope      TEXT NOT NULL CHECK (scope IN ('app', 'agent', 'user')),
    holder     TEXT NOT NULL CHECK (length(CAST(holder AS BLOB)) <= 256 AND (scope = 'app') = (holder = '')),
    name       TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 128),
    latest     INTEGER NOT NULL CHECK (latest > 0),
    active     INTEGER CHECK (active BETWEEN 1 AND latest),
    earlier    TEXT NOT NULL CHECK (json_valid(earlier)), -- what was active before, the latest last
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (app_id, scope, holder, name)
);
CREATE INDEX instructions_active ON instructions (app_id, scope, holder, name) WHERE active IS NOT NULL;

CREATE TABLE instruction_versions (
    app_id       TEXT NOT NULL,
    scope        TEXT NOT NULL,
    holder       TEXT NOT NULL,
    name         TEXT NOT NULL,
    version      INTEGER NOT NULL CHECK (version > 0),
    content      TEXT NOT NULL CHECK (length(content) BETWEEN 1 AND 16384),
    note         TEXT NOT NULL CHECK (length(note) <= 1000),
    published_at INTEGER NOT NULL,
    PRIMARY KEY (app_id, scope, holder, name, version)
);

-- How well each workflow of a user's skills has done.
CREATE TABLE skills (
    id            TEXT PRIMARY KEY NOT NULL,
    app_id        TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    user_id       TEXT NOT NULL CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 256),
    agent_id      TEXT NOT NULL CHECK (length(CAST(agent_id AS BLOB)) <= 256),
    name          TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 58),
    workflow      TEXT NOT NULL CHECK (length(workflow) BETWEEN 1 AND 4096),
    workflow_hash BLOB NOT NULL,
    successes     INTEGER NOT NULL CHECK (successes >= 0),
    failures      INTEGER NOT NULL CHECK (failures >= 0 AND successes + failures > 0),
    notes         TEXT NOT NULL CHECK (json_valid(notes)), -- of the latest outcomes
    memory_id     TEXT, -- outlived by the workflow where it is purged
    first_at      INTEGER NOT NULL,
    last_at       INTEGER NOT NULL
);
CREATE UNIQUE INDEX skills_by_workflow ON skills (app_id, user_id, name, agent_id, workflow_hash);

-- The outcomes that clients gave an id: each counts once.
CREATE TABLE skill_outcomes (
    app_id     TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    id         TEXT NOT NULL CHECK (length(CAST(id AS BLOB)) BETWEEN 1 AND 256),
    hash       TEXT NOT NULL,
    counted_at INTEGER NOT NULL,
    PRIMARY KEY (app_id, user_id, id)
);
