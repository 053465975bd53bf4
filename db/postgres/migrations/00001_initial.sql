-- +goose Up

-- Ids of clients are compared and ordered by their bytes, as SQLite and Go do.
-- JSON is kept as it came (json, not jsonb): what goes in comes out, and both
-- databases accept the same texts.

CREATE TABLE turns (
    id              uuid PRIMARY KEY,
    app_id          text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    user_id         text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 256),
    client_id       text COLLATE "C" CHECK (octet_length(client_id) BETWEEN 1 AND 256),
    agent_id        text COLLATE "C" NOT NULL CHECK (octet_length(agent_id) <= 256),
    conversation_id text COLLATE "C" NOT NULL CHECK (octet_length(conversation_id) <= 256),
    messages        json NOT NULL CHECK (json_typeof(messages) = 'array'),
    metadata        json CHECK (json_typeof(metadata) = 'object'),
    said_at         timestamptz NOT NULL,
    hash            text NOT NULL,
    status          text NOT NULL CHECK (status IN ('accepted', 'processed', 'failed')),
    attempts        integer NOT NULL CHECK (attempts >= 0),
    last_error      text NOT NULL,
    accepted_at     timestamptz NOT NULL,
    processed_at    timestamptz,
    queued_at       timestamptz NOT NULL, -- when it was accepted or last replayed
    due_at          timestamptz NOT NULL, -- by when an accepted turn must be renewed or ended
    CHECK ((status = 'processed') = (processed_at IS NOT NULL)),
    UNIQUE (app_id, client_id)
);
CREATE INDEX turns_by_app ON turns (app_id, accepted_at, id);
CREATE INDEX turns_by_status ON turns (app_id, status, accepted_at, id);
CREATE INDEX turns_by_user ON turns (app_id, user_id, accepted_at, id);
CREATE INDEX turns_due ON turns (due_at) WHERE status = 'accepted';

CREATE TABLE candidates (
    id         uuid PRIMARY KEY,
    app_id     text COLLATE "C" NOT NULL,
    turn_id    uuid NOT NULL REFERENCES turns ON DELETE CASCADE,
    content    text NOT NULL,
    importance double precision NOT NULL,
    domain     text NOT NULL,
    type       text NOT NULL,
    verdict    text NOT NULL CHECK (verdict IN ('kept', 'below_threshold', 'duplicate', 'merged', 'echo', 'invalid')),
    reason     text NOT NULL,
    scorer     text NOT NULL,
    memory_id  uuid,
    created_at timestamptz NOT NULL,
    CHECK (verdict = 'invalid' OR importance BETWEEN 0 AND 1)
);
CREATE INDEX candidates_by_turn ON candidates (turn_id, created_at, id);
CREATE INDEX candidates_by_verdict ON candidates (app_id, verdict);

CREATE TABLE agent_memories (
    id               uuid PRIMARY KEY,
    app_id           text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    user_id          text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 256),
    agent_id         text COLLATE "C" NOT NULL CHECK (octet_length(agent_id) <= 256),
    conversation_id  text COLLATE "C" NOT NULL CHECK (octet_length(conversation_id) <= 256),
    source_turn_id   uuid, -- outlives its turn
    content          text NOT NULL CHECK (char_length(content) BETWEEN 1 AND 4096),
    content_hash     bytea NOT NULL CHECK (octet_length(content_hash) = 32), -- SHA-256 of content
    memory_type      text NOT NULL CHECK (memory_type IN (
        'message', 'fact', 'preference', 'pattern', 'skill', 'project', 'reflection',
        'summary', 'observation', 'task', 'decision', 'tool_use', 'error', 'insight')),
    domain           text NOT NULL CHECK (domain IN (
        'general_chat', 'user_preferences', 'professional_and_academic',
        'lifestyle_and_interests', 'social_and_relationships', 'tasks_and_schedules')),
    tags             text[] NOT NULL,
    importance_score double precision NOT NULL CHECK (importance_score BETWEEN 0 AND 1),
    metadata         json CHECK (json_typeof(metadata) = 'object'),
    pinned           boolean NOT NULL,
    status           text NOT NULL CHECK (status IN ('active', 'superseded', 'consolidated', 'forgotten')),
    superseded_by    uuid CHECK (superseded_by IS NULL OR status = 'superseded'),
    created_at       timestamptz NOT NULL,
    updated_at       timestamptz NOT NULL,
    last_accessed_at timestamptz NOT NULL,
    access_count     integer NOT NULL CHECK (access_count >= 0),
    lexemes          text NOT NULL,
    revision         bigint NOT NULL CHECK (revision >= 1),

    -- the outbox towards the vector store
    vector_state         text NOT NULL CHECK (vector_state IN ('pending', 'synced', 'removing', 'absent')),
    vector_attempts      integer NOT NULL CHECK (vector_attempts >= 0), -- failed ones since the last success
    vector_since         timestamptz NOT NULL, -- since when a push has been waited for
    vector_due           timestamptz NOT NULL,
    vector_claimed_until timestamptz,
    vector_claims        bigint NOT NULL CHECK (vector_claims >= 0),
    vector_synced_at     timestamptz,

    embedding_model text NOT NULL,
    embedding       bytea CHECK (octet_length(embedding) % 4 = 0) -- float32 little-endian
);
-- Embeddings do not compress, and most queries do not read them: keep them out of the rows.
ALTER TABLE agent_memories ALTER COLUMN embedding SET STORAGE EXTERNAL;

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
    id        uuid PRIMARY KEY,
    app_id    text COLLATE "C" NOT NULL,
    user_id   text COLLATE "C" NOT NULL,
    memory_id uuid NOT NULL,
    kind      text NOT NULL CHECK (kind IN (
        'created', 'updated', 'merged', 'superseded', 'consolidated', 'forgotten', 'restored', 'purged')),
    cause     text NOT NULL,
    detail    json CHECK (json_typeof(detail) = 'object'),
    at        timestamptz NOT NULL
);
CREATE INDEX memory_events_by_memory ON memory_events (memory_id, at, id);
CREATE INDEX memory_events_by_user ON memory_events (app_id, user_id);

CREATE TABLE memory_relations (
    from_id    uuid NOT NULL REFERENCES agent_memories ON DELETE CASCADE,
    kind       text NOT NULL CHECK (kind IN ('derived_from', 'supports', 'contradicts', 'refines')),
    to_id      uuid NOT NULL REFERENCES agent_memories ON DELETE CASCADE,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (from_id, kind, to_id),
    CHECK (from_id <> to_id)
);
CREATE INDEX memory_relations_by_target ON memory_relations (to_id);

CREATE TABLE api_keys (
    id         uuid PRIMARY KEY,
    hash       text NOT NULL UNIQUE,
    name       text NOT NULL,
    app_id     text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    role       text NOT NULL CHECK (role IN ('read', 'write', 'admin')),
    created_at timestamptz NOT NULL,
    revoked_at timestamptz
);
CREATE INDEX api_keys_by_app ON api_keys (app_id, created_at, id);
