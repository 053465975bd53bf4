-- What is valid of a user over time, and all evidence for it.
CREATE TABLE facts (
    id          TEXT PRIMARY KEY NOT NULL,
    app_id      TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    user_id     TEXT NOT NULL CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 256),
    type        TEXT NOT NULL CHECK (length(type) BETWEEN 1 AND 128),
    key         TEXT NOT NULL CHECK (length(key) BETWEEN 1 AND 128),
    value       TEXT CHECK (value IS NULL OR json_valid(value) AND length(CAST(value AS BLOB)) <= 4096),
    confidence  REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    valid_from  INTEGER NOT NULL,
    valid_until INTEGER CHECK (valid_until > valid_from OR state = 'replaced'),
    source      TEXT NOT NULL CHECK (length(source) <= 256),
    state       TEXT NOT NULL CHECK (state IN ('accepted', 'confirmed', 'replaced', 'refused', 'ended')),
    reason      TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    memory_id   TEXT, -- outlived by the fact where it is purged
    told        INTEGER NOT NULL CHECK (told IN (0, 1) AND (memory_id IS NOT NULL OR NOT told)),
    due_at      INTEGER, -- when its memory must begin or end
    CHECK ((state = 'ended') = (value IS NULL))
);
-- On a timeline, at most one fact begins at an instant, one is open, and one has a memory.
CREATE UNIQUE INDEX facts_beginnings ON facts (app_id, user_id, type, key, valid_from) WHERE state = 'accepted';
CREATE UNIQUE INDEX facts_open ON facts (app_id, user_id, type, key) WHERE state = 'accepted' AND valid_until IS NULL;
CREATE UNIQUE INDEX facts_told ON facts (app_id, user_id, type, key) WHERE told;
CREATE INDEX facts_timeline ON facts (app_id, user_id, type, key, valid_from) WHERE state IN ('accepted', 'ended');
CREATE INDEX facts_by_time ON facts (app_id, user_id, valid_from, id) WHERE state = 'accepted';
CREATE INDEX facts_history ON facts (app_id, user_id, type, key, recorded_at, id);
-- Forgetting a memory takes the facts that it states from their timelines.
CREATE INDEX facts_of_memories ON facts (app_id, user_id, memory_id) WHERE state = 'accepted' AND memory_id IS NOT NULL;
CREATE INDEX facts_due ON facts (due_at, id) WHERE due_at IS NOT NULL;

-- The schemas of the profiles of apps; see db.ProfileSchema.
CREATE TABLE profile_schemas (
    app_id    TEXT PRIMARY KEY CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    version   INTEGER NOT NULL CHECK (version > 0),
    schema    TEXT NOT NULL CHECK (json_type(schema) = 'object'),
    stored_at INTEGER NOT NULL,
    stored_by TEXT NOT NULL -- id of a key
) WITHOUT ROWID;

-- What a model has read for them; see db.FilledProfile.
CREATE TABLE filled_profiles (
    app_id    TEXT NOT NULL,
    user_id   TEXT NOT NULL,
    agent_id  TEXT NOT NULL,
    basis     TEXT NOT NULL CHECK (basis <> ''),
    fields    TEXT NOT NULL CHECK (json_type(fields) = 'array'),
    filled_at INTEGER NOT NULL,
    PRIMARY KEY (app_id, user_id, agent_id)
) WITHOUT ROWID;

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
    app_id           TEXT NOT NULL,
    scope            TEXT NOT NULL,
    holder           TEXT NOT NULL,
    name             TEXT NOT NULL,
    version          INTEGER NOT NULL CHECK (version > 0),
    -- What it rests on, and the outcomes of skills since its publication and before; see memory.InstructionVersion.
    grounds          TEXT CHECK (json_type(grounds) = 'array'), -- null: a person has written it
    successes        INTEGER NOT NULL DEFAULT 0,
    failures         INTEGER NOT NULL DEFAULT 0,
    successes_before INTEGER NOT NULL DEFAULT 0,
    failures_before  INTEGER NOT NULL DEFAULT 0,
    content          TEXT NOT NULL CHECK (length(content) BETWEEN 1 AND 16384),
    note             TEXT NOT NULL CHECK (length(note) <= 1000),
    published_at     INTEGER NOT NULL,
    PRIMARY KEY (app_id, scope, holder, name, version)
);
CREATE INDEX instruction_versions_grounded ON instruction_versions (app_id, scope, holder) WHERE grounds IS NOT NULL;

-- Insights and versions of instructions that wait for an approval; see db.ProposedInsight.
CREATE TABLE proposed_insights (
    app_id      TEXT NOT NULL,
    user_id     TEXT NOT NULL,
    id          TEXT NOT NULL CHECK (length(id) = 36),
    agent_id    TEXT NOT NULL,
    content     TEXT NOT NULL,
    domain      TEXT NOT NULL,
    importance  REAL NOT NULL,
    sources     TEXT NOT NULL CHECK (json_type(sources) = 'array'), -- ids of memories
    retires     TEXT NOT NULL CHECK (json_type(retires) = 'array'), -- some of sources
    proposed_at INTEGER NOT NULL,
    instruction TEXT NOT NULL DEFAULT '', -- name; empty: it is an insight
    grounds     TEXT NOT NULL DEFAULT '[]' CHECK (json_type(grounds) = 'array'),
    basis       INTEGER NOT NULL DEFAULT 0,
    decided     INTEGER NOT NULL DEFAULT 0 CHECK (decided IN (0, 1)), -- it is kept so that it is not proposed again
    PRIMARY KEY (app_id, id)
) WITHOUT ROWID;
CREATE INDEX proposed_insights_of_user ON proposed_insights (app_id, user_id, id);

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

-- The files of the memory tool.
CREATE TABLE memory_files (
    id         TEXT PRIMARY KEY NOT NULL,
    app_id     TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    user_id    TEXT NOT NULL CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 256),
    agent_id   TEXT NOT NULL CHECK (length(CAST(agent_id AS BLOB)) <= 256),
    path       TEXT NOT NULL CHECK (length(CAST(path AS BLOB)) BETWEEN 1 AND 1024),
    version    INTEGER NOT NULL CHECK (version > 0), -- the one whose content it has
    bytes      INTEGER NOT NULL CHECK (bytes BETWEEN 0 AND 102400),
    paragraphs TEXT NOT NULL CHECK (json_valid(paragraphs)), -- their hashes and memories
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX memory_files_by_path ON memory_files (app_id, user_id, agent_id, path);

-- The contents of the files, of deleted ones also.
CREATE TABLE memory_file_versions (
    id         TEXT PRIMARY KEY NOT NULL,
    app_id     TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    user_id    TEXT NOT NULL CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 256),
    agent_id   TEXT NOT NULL CHECK (length(CAST(agent_id AS BLOB)) <= 256),
    file_id    TEXT NOT NULL, -- outlived by the version where the file is deleted
    path       TEXT NOT NULL CHECK (length(CAST(path AS BLOB)) BETWEEN 1 AND 1024),
    version    INTEGER NOT NULL CHECK (version > 0),
    bytes      INTEGER NOT NULL CHECK (bytes BETWEEN 0 AND 102400),
    written_at INTEGER NOT NULL,
    content    TEXT NOT NULL
);
CREATE UNIQUE INDEX memory_file_versions_by_file ON memory_file_versions (file_id, version);
CREATE INDEX memory_file_versions_by_path ON memory_file_versions (app_id, user_id, agent_id, path, written_at, id);

-- Texts and pages that apps gave for users; see memory.SourceDocument. Their passages are memories.
CREATE TABLE documents (
    id           TEXT PRIMARY KEY NOT NULL,
    app_id       TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    user_id      TEXT NOT NULL CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 256),
    agent_id     TEXT NOT NULL CHECK (length(CAST(agent_id AS BLOB)) <= 256),
    ref          TEXT NOT NULL CHECK (length(CAST(ref AS BLOB)) BETWEEN 1 AND 2200), -- id:..., url:... or hash:...
    client_id    TEXT NOT NULL,
    title        TEXT NOT NULL,
    url          TEXT NOT NULL,
    content_type TEXT NOT NULL,
    version      INTEGER NOT NULL CHECK (version > 0),
    hash         TEXT NOT NULL, -- SHA-256 of what the version holds
    tags         TEXT NOT NULL CHECK (json_valid(tags)),
    metadata     TEXT CHECK (json_type(metadata) = 'object'),
    passages     TEXT NOT NULL CHECK (json_valid(passages)), -- their memories and hashes, in the order of the text
    at           INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    changed_at   INTEGER NOT NULL,
    forgotten_at INTEGER
);
CREATE UNIQUE INDEX documents_by_ref ON documents (app_id, user_id, agent_id, ref);
CREATE INDEX documents_by_time ON documents (app_id, user_id, created_at, id);
CREATE INDEX documents_forgotten ON documents (forgotten_at) WHERE forgotten_at IS NOT NULL;
