-- +goose Up

-- Texts for the model: for an app, an agent or a user (holder).
CREATE TABLE instructions (
    app_id     text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    scope      text COLLATE "C" NOT NULL CHECK (scope IN ('app', 'agent', 'user')),
    holder     text COLLATE "C" NOT NULL CHECK (octet_length(holder) <= 256 AND (scope = 'app') = (holder = '')),
    name       text COLLATE "C" NOT NULL CHECK (char_length(name) BETWEEN 1 AND 128),
    latest     integer NOT NULL CHECK (latest > 0),
    active     integer CHECK (active BETWEEN 1 AND latest),
    earlier    integer[] NOT NULL, -- what was active before, the latest last
    changed_at timestamptz NOT NULL,
    PRIMARY KEY (app_id, scope, holder, name)
);
CREATE INDEX instructions_active ON instructions (app_id, scope, holder, name) WHERE active IS NOT NULL;

CREATE TABLE instruction_versions (
    app_id       text COLLATE "C" NOT NULL,
    scope        text COLLATE "C" NOT NULL,
    holder       text COLLATE "C" NOT NULL,
    name         text COLLATE "C" NOT NULL,
    version      integer NOT NULL CHECK (version > 0),
    content      text NOT NULL CHECK (char_length(content) BETWEEN 1 AND 16384),
    note         text NOT NULL CHECK (char_length(note) <= 1000),
    published_at timestamptz NOT NULL,
    PRIMARY KEY (app_id, scope, holder, name, version)
);

-- How well each workflow of a user's skills has done.
CREATE TABLE skills (
    id            uuid PRIMARY KEY,
    app_id        text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    user_id       text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 256),
    agent_id      text COLLATE "C" NOT NULL CHECK (octet_length(agent_id) <= 256),
    name          text COLLATE "C" NOT NULL CHECK (char_length(name) BETWEEN 1 AND 58),
    workflow      text NOT NULL CHECK (char_length(workflow) BETWEEN 1 AND 4096),
    workflow_hash bytea NOT NULL,
    successes     integer NOT NULL CHECK (successes >= 0),
    failures      integer NOT NULL CHECK (failures >= 0 AND successes + failures > 0),
    notes         json NOT NULL, -- of the latest outcomes
    memory_id     uuid, -- outlived by the workflow where it is purged
    first_at      timestamptz NOT NULL,
    last_at       timestamptz NOT NULL
);
CREATE UNIQUE INDEX skills_by_workflow ON skills (app_id, user_id, name, agent_id, workflow_hash);

-- The outcomes that clients gave an id: each counts once.
CREATE TABLE skill_outcomes (
    app_id     text COLLATE "C" NOT NULL,
    user_id    text COLLATE "C" NOT NULL,
    id         text COLLATE "C" NOT NULL CHECK (octet_length(id) BETWEEN 1 AND 256),
    hash       text NOT NULL,
    counted_at timestamptz NOT NULL,
    PRIMARY KEY (app_id, user_id, id)
);
