CREATE TABLE agent_memories (
    id               TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
    app_id           TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    user_id          TEXT NOT NULL CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 256),
    agent_id         TEXT NOT NULL CHECK (length(CAST(agent_id AS BLOB)) <= 256),
    conversation_id  TEXT NOT NULL CHECK (length(CAST(conversation_id AS BLOB)) <= 256),
    source_turn_id   TEXT, -- outlives its turn
    content          TEXT NOT NULL CHECK (length(content) BETWEEN 1 AND 4096),
    content_hash     BLOB NOT NULL CHECK (length(content_hash) = 32), -- SHA-256 of content
    speaker          TEXT NOT NULL DEFAULT '' CHECK (length(CAST(speaker AS BLOB)) <= 256), -- who said a message
    -- What another speaker asked just before a short message, which is embedded and searched with it.
    asked            TEXT NOT NULL DEFAULT '',
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
    -- Whether it was forgotten because it had faded. Recall may find it again; what a request forgets is never marked.
    faded            INTEGER NOT NULL DEFAULT 0 CHECK (faded IN (0, 1)),
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    last_said_at     INTEGER, -- when it was said again, or edited, last; null: not after it was said first
    expires_at       INTEGER, -- from when on the statement is former; null: it has no such time
    last_accessed_at INTEGER NOT NULL,
    access_count     INTEGER NOT NULL CHECK (access_count >= 0),
    lexemes          TEXT NOT NULL,
    revision         INTEGER NOT NULL CHECK (revision >= 1),
    change           INTEGER NOT NULL DEFAULT 0, -- the latest one of the user's memories that changed this one

    -- the outbox towards the vector store
    vector_state         TEXT NOT NULL CHECK (vector_state IN ('pending', 'synced', 'removing', 'absent')),
    vector_attempts      INTEGER NOT NULL CHECK (vector_attempts >= 0), -- failed ones since the last success
    vector_since         INTEGER NOT NULL, -- since when a push has been waited for
    vector_due           INTEGER NOT NULL,
    vector_claimed_until INTEGER,
    vector_claims        INTEGER NOT NULL CHECK (vector_claims >= 0),
    -- Requeued while claimed: the end of that claim is not the end of the work.
    vector_again         INTEGER NOT NULL DEFAULT 0 CHECK (vector_again IN (0, 1)),
    vector_synced_at     INTEGER,

    embedding_model TEXT NOT NULL,
    embedding       BLOB CHECK (length(embedding) % 4 = 0) -- float32 little-endian
);

-- Lists read only the memories that they return. Memories by status, domain and type, and with the length of the
-- content what a user keeps, are counted without reading the rows, and no arrival of a vector changes the index.
CREATE INDEX agent_memories_by_time ON agent_memories (app_id, user_id, created_at, id, status, memory_type, domain,
    octet_length(content));
-- Few memories of a user are inactive, private to an agent, tagged, or have metadata: they are listed by these.
CREATE INDEX agent_memories_inactive ON agent_memories (app_id, user_id, status, created_at, id)
    WHERE status <> 'active';
CREATE INDEX agent_memories_of_agents ON agent_memories (app_id, user_id, agent_id, created_at, id)
    WHERE agent_id <> '';
CREATE INDEX agent_memories_tagged ON agent_memories (app_id, user_id, created_at, id)
    WHERE tags <> '[]';
CREATE INDEX agent_memories_metadata ON agent_memories (app_id, user_id, created_at, id)
    WHERE metadata IS NOT NULL;
CREATE INDEX agent_memories_documents ON agent_memories (app_id, user_id, conversation_id, created_at, id)
    WHERE status = 'active';
-- Documents name the messages whose facts a memory superseded.
CREATE INDEX agent_memories_superseded_by ON agent_memories (superseded_by) WHERE superseded_by IS NOT NULL;

-- A write looks for a fact of the same content.
CREATE INDEX agent_memories_by_content ON agent_memories (app_id, user_id, agent_id, content_hash)
    WHERE status = 'active' AND memory_type <> 'message';
-- Reflection reads facts only. Messages are many times as many.
CREATE INDEX agent_memories_facts ON agent_memories (app_id, user_id, updated_at, id)
    WHERE status = 'active' AND memory_type NOT IN ('message', 'reflection', 'summary');
-- A new statement is compared with facts that an insight stands for, newest first.
CREATE INDEX agent_memories_condensed ON agent_memories (app_id, user_id, updated_at, id)
    WHERE status = 'consolidated' AND memory_type NOT IN ('message', 'reflection', 'summary');
CREATE INDEX agent_memories_changes ON agent_memories (app_id, user_id, change) WHERE change > 0;

-- With all that the retention of a memory is computed from, and whose days count for it, the index of what was handed
-- out lately also answers what fades. An access changes one entry.
CREATE INDEX agent_memories_ages ON agent_memories (app_id, user_id, access_count > 0, last_accessed_at, id,
    access_count, updated_at, created_at, importance_score, memory_type, pinned, domain, agent_id)
    WHERE status = 'active';
-- Statistics count the active memories that have an end.
CREATE INDEX agent_memories_shelf_lives ON agent_memories (app_id, user_id, expires_at)
    WHERE status = 'active' AND expires_at IS NOT NULL;
-- The faded memories of a user, the one that was accessed last first, with the words that a recall compares.
CREATE INDEX agent_memories_faded ON agent_memories (app_id, user_id, last_accessed_at, id, lexemes, status)
    WHERE faded;
CREATE INDEX agent_memories_purgeable ON agent_memories (updated_at, id)
    WHERE status = 'forgotten' AND vector_state = 'absent';

CREATE INDEX agent_memories_outbox ON agent_memories (vector_due, vector_state, vector_since)
    WHERE vector_state IN ('pending', 'removing');
CREATE INDEX agent_memories_unconfirmed ON agent_memories (app_id, user_id, updated_at, id)
    WHERE status = 'active' AND vector_state = 'pending';
CREATE INDEX agent_memories_confirmed ON agent_memories (app_id, user_id, vector_synced_at)
    WHERE status = 'active' AND vector_state = 'synced';
-- The memories without an embedding, which are embedded when an embedder accepts their texts.
CREATE INDEX agent_memories_words_only ON agent_memories (app_id, id)
    WHERE status = 'active' AND embedding_model = '';

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

-- Episodes of users; see db.Episode.
CREATE TABLE episodes (
    app_id   TEXT NOT NULL,
    user_id  TEXT NOT NULL,
    id       TEXT NOT NULL CHECK (length(id) = 36),
    agent_id TEXT NOT NULL,
    theme_id TEXT CHECK (length(theme_id) = 36),
    began    INTEGER NOT NULL,
    ended    INTEGER NOT NULL,
    basis    TEXT NOT NULL,
    label    TEXT NOT NULL CHECK (json_type(label) = 'object'),
    PRIMARY KEY (app_id, user_id, id)
) WITHOUT ROWID;
CREATE INDEX episodes_by_end ON episodes (app_id, user_id, ended, id);
CREATE INDEX episodes_of_theme ON episodes (app_id, user_id, theme_id, ended, id);

-- The memories of episodes. A memory is in one at most.
CREATE TABLE episode_memories (
    app_id     TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    memory_id  TEXT NOT NULL CHECK (length(memory_id) = 36),
    episode_id TEXT NOT NULL,
    PRIMARY KEY (app_id, user_id, memory_id),
    FOREIGN KEY (app_id, user_id, episode_id) REFERENCES episodes ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX episode_memories_of_episode ON episode_memories (app_id, user_id, episode_id);

-- The revision of an owner's memories that the episodes were made from; see db.EpisodeState.
CREATE TABLE episode_states (
    app_id   TEXT NOT NULL,
    user_id  TEXT NOT NULL,
    revision INTEGER NOT NULL,
    PRIMARY KEY (app_id, user_id)
) WITHOUT ROWID;

-- Which memories of the shared pools of apps are whose; see memory.Pooled.
CREATE TABLE pooled (
    id          TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
    app_id      TEXT NOT NULL,
    user_id     TEXT NOT NULL,
    agent_id    TEXT NOT NULL,
    memory_id   TEXT CHECK (length(memory_id) = 36), -- null: what was copied is not known any more
    promoted_at INTEGER NOT NULL,
    key_id      TEXT NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX pooled_of_memory ON pooled (app_id, user_id, memory_id);
CREATE INDEX pooled_by_time ON pooled (app_id, promoted_at, id);
