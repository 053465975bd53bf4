-- What is valid of a user over time, and all evidence for it.
CREATE TABLE facts (
    id          uuid PRIMARY KEY,
    app_id      text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    user_id     text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 256),
    type        text COLLATE "C" NOT NULL CHECK (char_length(type) BETWEEN 1 AND 128),
    key         text COLLATE "C" NOT NULL CHECK (char_length(key) BETWEEN 1 AND 128),
    value       json CHECK (octet_length(value::text) <= 4096),
    confidence  double precision NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    valid_from  timestamptz NOT NULL,
    valid_until timestamptz CHECK (valid_until > valid_from OR state = 'replaced'),
    source      text NOT NULL CHECK (char_length(source) <= 256),
    state       text NOT NULL CHECK (state IN ('accepted', 'confirmed', 'replaced', 'refused', 'ended')),
    reason      text NOT NULL,
    recorded_at timestamptz NOT NULL,
    memory_id   uuid, -- outlived by the fact where it is purged
    told        boolean NOT NULL CHECK (memory_id IS NOT NULL OR NOT told),
    due_at      timestamptz, -- when its memory must begin or end
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
    app_id    text COLLATE "C" PRIMARY KEY CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    version   integer NOT NULL CHECK (version > 0),
    schema    json NOT NULL CHECK (json_typeof(schema) = 'object'),
    stored_at timestamptz NOT NULL,
    stored_by text NOT NULL -- id of a key
);

-- What a model has read for them; see db.FilledProfile.
CREATE TABLE filled_profiles (
    app_id    text COLLATE "C" NOT NULL,
    user_id   text COLLATE "C" NOT NULL,
    agent_id  text COLLATE "C" NOT NULL,
    basis     text NOT NULL CHECK (basis <> ''),
    fields    json NOT NULL CHECK (json_typeof(fields) = 'array'),
    filled_at timestamptz NOT NULL,
    PRIMARY KEY (app_id, user_id, agent_id)
);

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
    app_id           text COLLATE "C" NOT NULL,
    scope            text COLLATE "C" NOT NULL,
    holder           text COLLATE "C" NOT NULL,
    name             text COLLATE "C" NOT NULL,
    version          integer NOT NULL CHECK (version > 0),
    -- What it rests on, and the outcomes of skills since its publication and before; see memory.InstructionVersion.
    grounds          json CHECK (json_typeof(grounds) = 'array'), -- null: a person has written it
    successes        integer NOT NULL DEFAULT 0,
    failures         integer NOT NULL DEFAULT 0,
    successes_before integer NOT NULL DEFAULT 0,
    failures_before  integer NOT NULL DEFAULT 0,
    content          text NOT NULL CHECK (char_length(content) BETWEEN 1 AND 16384),
    note             text NOT NULL CHECK (char_length(note) <= 1000),
    published_at     timestamptz NOT NULL,
    PRIMARY KEY (app_id, scope, holder, name, version)
);
CREATE INDEX instruction_versions_grounded ON instruction_versions (app_id, scope, holder) WHERE grounds IS NOT NULL;

-- Insights and versions of instructions that wait for an approval; see db.ProposedInsight.
CREATE TABLE proposed_insights (
    app_id      text COLLATE "C" NOT NULL,
    user_id     text COLLATE "C" NOT NULL,
    id          uuid NOT NULL,
    agent_id    text NOT NULL,
    content     text NOT NULL,
    domain      text NOT NULL,
    importance  double precision NOT NULL,
    sources     uuid[] NOT NULL, -- ids of memories
    retires     uuid[] NOT NULL, -- some of sources
    proposed_at timestamptz NOT NULL,
    instruction text NOT NULL DEFAULT '', -- name; empty: it is an insight
    grounds     json NOT NULL DEFAULT '[]' CHECK (json_typeof(grounds) = 'array'),
    basis       bigint NOT NULL DEFAULT 0,
    decided     boolean NOT NULL DEFAULT false, -- it is kept so that it is not proposed again
    PRIMARY KEY (app_id, id)
);
CREATE INDEX proposed_insights_of_user ON proposed_insights (app_id, user_id, id);

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

-- The files of the memory tool.
CREATE TABLE memory_files (
    id         uuid PRIMARY KEY,
    app_id     text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    user_id    text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 256),
    agent_id   text COLLATE "C" NOT NULL CHECK (octet_length(agent_id) <= 256),
    path       text COLLATE "C" NOT NULL CHECK (octet_length(path) BETWEEN 1 AND 1024),
    version    integer NOT NULL CHECK (version > 0), -- the one whose content it has
    bytes      integer NOT NULL CHECK (bytes BETWEEN 0 AND 102400),
    paragraphs json NOT NULL, -- their hashes and memories
    created_at timestamptz NOT NULL,
    changed_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX memory_files_by_path ON memory_files (app_id, user_id, agent_id, path);

-- The contents of the files, of deleted ones also.
CREATE TABLE memory_file_versions (
    id         uuid PRIMARY KEY,
    app_id     text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    user_id    text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 256),
    agent_id   text COLLATE "C" NOT NULL CHECK (octet_length(agent_id) <= 256),
    file_id    uuid NOT NULL, -- outlived by the version where the file is deleted
    path       text COLLATE "C" NOT NULL CHECK (octet_length(path) BETWEEN 1 AND 1024),
    version    integer NOT NULL CHECK (version > 0),
    bytes      integer NOT NULL CHECK (bytes BETWEEN 0 AND 102400),
    written_at timestamptz NOT NULL,
    content    text NOT NULL
);
CREATE UNIQUE INDEX memory_file_versions_by_file ON memory_file_versions (file_id, version);
CREATE INDEX memory_file_versions_by_path ON memory_file_versions (app_id, user_id, agent_id, path, written_at, id);

-- Texts and pages that apps gave for users; see memory.SourceDocument. Their passages are memories.
CREATE TABLE documents (
    id           uuid PRIMARY KEY,
    app_id       text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    user_id      text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 256),
    agent_id     text COLLATE "C" NOT NULL CHECK (octet_length(agent_id) <= 256),
    ref          text COLLATE "C" NOT NULL CHECK (octet_length(ref) BETWEEN 1 AND 2200), -- id:..., url:... or hash:...
    client_id    text NOT NULL,
    title        text NOT NULL,
    url          text NOT NULL,
    content_type text NOT NULL,
    version      integer NOT NULL CHECK (version > 0),
    hash         text NOT NULL, -- SHA-256 of what the version holds
    tags         json NOT NULL,
    metadata     json CHECK (json_typeof(metadata) = 'object'),
    passages     json NOT NULL, -- their memories and hashes, in the order of the text
    at           timestamptz NOT NULL,
    created_at   timestamptz NOT NULL,
    changed_at   timestamptz NOT NULL,
    forgotten_at timestamptz
);
CREATE UNIQUE INDEX documents_by_ref ON documents (app_id, user_id, agent_id, ref);
CREATE INDEX documents_by_time ON documents (app_id, user_id, created_at, id);
CREATE INDEX documents_forgotten ON documents (forgotten_at) WHERE forgotten_at IS NOT NULL;
