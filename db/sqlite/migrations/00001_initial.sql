-- +goose Up

-- Times are whole microseconds since 1970 (UTC), ids are UUIDs as text, JSON is
-- text as it came. Wide columns come last: a scan of the narrow ones before
-- them does not walk their overflow pages.

CREATE TABLE turns (
    id              TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
    app_id          TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    user_id         TEXT NOT NULL CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 256),
    client_id       TEXT CHECK (length(CAST(client_id AS BLOB)) BETWEEN 1 AND 256),
    agent_id        TEXT NOT NULL CHECK (length(CAST(agent_id AS BLOB)) <= 256),
    conversation_id TEXT NOT NULL CHECK (length(CAST(conversation_id AS BLOB)) <= 256),
    said_at         INTEGER NOT NULL,
    hash            TEXT NOT NULL,
    status          TEXT NOT NULL CHECK (status IN ('accepted', 'processed', 'failed')),
    attempts        INTEGER NOT NULL CHECK (attempts >= 0),
    last_error      TEXT NOT NULL,
    accepted_at     INTEGER NOT NULL,
    processed_at    INTEGER,
    queued_at       INTEGER NOT NULL, -- when it was accepted or last replayed
    due_at          INTEGER NOT NULL, -- by when an accepted turn must be renewed or ended
    metadata        TEXT CHECK (json_type(metadata) = 'object'),
    messages        TEXT NOT NULL CHECK (json_type(messages) = 'array'),
    CHECK ((status = 'processed') = (processed_at IS NOT NULL)),
    UNIQUE (app_id, client_id)
);
CREATE INDEX turns_by_app ON turns (app_id, accepted_at, id);
CREATE INDEX turns_by_status ON turns (app_id, status, accepted_at, id);
CREATE INDEX turns_by_user ON turns (app_id, user_id, accepted_at, id);
CREATE INDEX turns_due ON turns (due_at) WHERE status = 'accepted';

CREATE TABLE candidates (
    id         TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
    app_id     TEXT NOT NULL,
    turn_id    TEXT NOT NULL REFERENCES turns ON DELETE CASCADE,
    content    TEXT NOT NULL,
    importance REAL NOT NULL,
    domain     TEXT NOT NULL,
    type       TEXT NOT NULL,
    verdict    TEXT NOT NULL CHECK (verdict IN ('kept', 'below_threshold', 'duplicate', 'merged', 'echo', 'invalid')),
    reason     TEXT NOT NULL,
    scorer     TEXT NOT NULL,
    memory_id  TEXT,
    created_at INTEGER NOT NULL,
    CHECK (verdict = 'invalid' OR importance BETWEEN 0 AND 1)
);
CREATE INDEX candidates_by_turn ON candidates (turn_id, created_at, id);
CREATE INDEX candidates_by_verdict ON candidates (app_id, verdict);

CREATE TABLE agent_memories (
    id               TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
    app_id           TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    user_id          TEXT NOT NULL CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 256),
    agent_id         TEXT NOT NULL CHECK (length(CAST(agent_id AS BLOB)) <= 256),
    conversation_id  TEXT NOT NULL CHECK (length(CAST(conversation_id AS BLOB)) <= 256),
    source_turn_id   TEXT, -- outlives its turn
    content          TEXT NOT NULL CHECK (length(content) BETWEEN 1 AND 4096),
    content_hash     BLOB NOT NULL CHECK (length(content_hash) = 32), -- SHA-256 of content
    memory_type      TEXT NOT NULL CHECK (memory_type IN (
        'message', 'fact', 'preference', 'pattern', 'skill', 'project', 'reflection',
        'summary', 'observation', 'task', 'decision', 'tool_use', 'error', 'insight')),
    domain           TEXT NOT NULL CHECK (domain IN (
        'general_chat', 'user_preferences', 'professional_and_academic',
        'lifestyle_and_interests', 'social_and_relationships', 'tasks_and_schedules')),
    tags             TEXT NOT NULL,
    importance_score REAL NOT NULL CHECK (importance_score BETWEEN 0 AND 1),
    metadata         TEXT CHECK (json_type(metadata) = 'object'),
    pinned           INTEGER NOT NULL CHECK (pinned IN (0, 1)),
    status           TEXT NOT NULL CHECK (status IN ('active', 'superseded', 'consolidated', 'forgotten')),
    superseded_by    TEXT CHECK (superseded_by IS NULL OR status = 'superseded'),
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    last_accessed_at INTEGER NOT NULL,
    access_count     INTEGER NOT NULL CHECK (access_count >= 0),
    lexemes          TEXT NOT NULL,
    revision         INTEGER NOT NULL CHECK (revision >= 1),

    -- the outbox towards the vector store
    vector_state         TEXT NOT NULL CHECK (vector_state IN ('pending', 'synced', 'removing', 'absent')),
    vector_attempts      INTEGER NOT NULL CHECK (vector_attempts >= 0), -- failed ones since the last success
    vector_since         INTEGER NOT NULL, -- since when a push has been waited for
    vector_due           INTEGER NOT NULL,
    vector_claimed_until INTEGER,
    vector_claims        INTEGER NOT NULL CHECK (vector_claims >= 0),
    vector_synced_at     INTEGER,

    embedding_model TEXT NOT NULL,
    embedding       BLOB CHECK (length(embedding) % 4 = 0) -- float32 little-endian
);

CREATE INDEX agent_memories_by_time ON agent_memories (app_id, user_id, created_at, id);
CREATE INDEX agent_memories_documents ON agent_memories (app_id, user_id, conversation_id, created_at, id)
    WHERE status = 'active';
CREATE INDEX agent_memories_by_content ON agent_memories (app_id, user_id, agent_id, content_hash)
    WHERE status = 'active';
CREATE INDEX agent_memories_unconfirmed ON agent_memories (app_id, user_id, updated_at, id)
    WHERE status = 'active' AND vector_state = 'pending';
CREATE INDEX agent_memories_confirmed ON agent_memories (app_id, user_id, vector_synced_at)
    WHERE status = 'active' AND vector_state = 'synced';
CREATE INDEX agent_memories_handed_out ON agent_memories (app_id, user_id, last_accessed_at)
    WHERE status = 'active' AND access_count > 0;
CREATE INDEX agent_memories_outbox ON agent_memories (vector_due, vector_state, vector_since)
    WHERE vector_state IN ('pending', 'removing');
CREATE INDEX agent_memories_counts ON agent_memories (app_id, status, domain, memory_type, vector_state, user_id);

-- History outlives its memory, so nothing here refers to one.
CREATE TABLE memory_events (
    id        TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
    app_id    TEXT NOT NULL,
    user_id   TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    kind      TEXT NOT NULL CHECK (kind IN (
        'created', 'updated', 'merged', 'superseded', 'consolidated', 'forgotten', 'restored', 'purged')),
    cause     TEXT NOT NULL,
    detail    TEXT CHECK (json_type(detail) = 'object'),
    at        INTEGER NOT NULL
);
CREATE INDEX memory_events_by_memory ON memory_events (memory_id, at, id);
CREATE INDEX memory_events_by_user ON memory_events (app_id, user_id);

CREATE TABLE memory_relations (
    from_id    TEXT NOT NULL REFERENCES agent_memories ON DELETE CASCADE,
    kind       TEXT NOT NULL CHECK (kind IN ('derived_from', 'supports', 'contradicts', 'refines')),
    to_id      TEXT NOT NULL REFERENCES agent_memories ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (from_id, kind, to_id),
    CHECK (from_id <> to_id)
);
CREATE INDEX memory_relations_by_target ON memory_relations (to_id);

CREATE TABLE api_keys (
    id         TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
    hash       TEXT NOT NULL UNIQUE,
    name       TEXT NOT NULL,
    app_id     TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    role       TEXT NOT NULL CHECK (role IN ('read', 'write', 'admin')),
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
);
CREATE INDEX api_keys_by_app ON api_keys (app_id, created_at, id);
