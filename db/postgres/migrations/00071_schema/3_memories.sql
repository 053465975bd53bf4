-- An access changes a row in place when no index holds what it changes and the page has room: every recall counts
-- some. What was handed out lately is found among the user's active memories.
CREATE TABLE agent_memories (
    id               uuid PRIMARY KEY,
    app_id           text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    user_id          text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 256),
    agent_id         text COLLATE "C" NOT NULL CHECK (octet_length(agent_id) <= 256),
    conversation_id  text COLLATE "C" NOT NULL CHECK (octet_length(conversation_id) <= 256),
    source_turn_id   uuid, -- outlives its turn
    content          text NOT NULL CHECK (char_length(content) BETWEEN 1 AND 4096),
    content_hash     bytea NOT NULL CHECK (octet_length(content_hash) = 32), -- SHA-256 of content
    speaker          text COLLATE "C" NOT NULL DEFAULT '' CHECK (octet_length(speaker) <= 256), -- who said a message
    -- What another speaker asked just before a short message, which is embedded and searched with it.
    asked            text NOT NULL DEFAULT '',
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
    -- Whether it was forgotten because it had faded. Recall may find it again; what a request forgets is never marked.
    faded            boolean NOT NULL DEFAULT false,
    created_at       timestamptz NOT NULL,
    updated_at       timestamptz NOT NULL,
    last_said_at     timestamptz, -- when it was said again, or edited, last; null: not after it was said first
    expires_at       timestamptz, -- from when on the statement is former; null: it has no such time
    last_accessed_at timestamptz NOT NULL,
    access_count     integer NOT NULL CHECK (access_count >= 0),
    lexemes          text NOT NULL,
    revision         bigint NOT NULL CHECK (revision >= 1),
    change           bigint NOT NULL DEFAULT 0, -- the latest one of the user's memories that changed this one

    -- the outbox towards the vector store
    vector_state         text NOT NULL CHECK (vector_state IN ('pending', 'synced', 'removing', 'absent')),
    vector_attempts      integer NOT NULL CHECK (vector_attempts >= 0), -- failed ones since the last success
    vector_since         timestamptz NOT NULL, -- since when a push has been waited for
    vector_due           timestamptz NOT NULL,
    vector_claimed_until timestamptz,
    vector_claims        bigint NOT NULL CHECK (vector_claims >= 0),
    -- Requeued while claimed: the end of that claim is not the end of the work.
    vector_again         boolean NOT NULL DEFAULT false,
    vector_synced_at     timestamptz,

    embedding_model text NOT NULL
) WITH (fillfactor = 85);

-- The index for lists also serves counts. A separate index would be rewritten for each vector that arrives.
CREATE INDEX agent_memories_by_time ON agent_memories (app_id, user_id, created_at, id)
    INCLUDE (status, memory_type, domain);
-- Few memories of a user are inactive, private to an agent, or tagged: they are listed by these.
CREATE INDEX agent_memories_inactive ON agent_memories (app_id, user_id, status, created_at, id)
    WHERE status <> 'active';
CREATE INDEX agent_memories_of_agents ON agent_memories (app_id, user_id, agent_id, created_at, id)
    WHERE agent_id <> '';
CREATE INDEX agent_memories_tagged ON agent_memories (app_id, user_id, created_at, id)
    WHERE cardinality(tags) > 0;
-- Finds memories by what their metadata contains. The column itself stays json, which keeps the text as it was written.
CREATE INDEX agent_memories_metadata ON agent_memories USING gin ((metadata::jsonb) jsonb_path_ops)
    WHERE metadata IS NOT NULL;
-- Tells the planner which contents are rare. It takes no statistics from a partial index.
CREATE STATISTICS agent_memories_metadata_values ON (metadata::jsonb) FROM agent_memories;
CREATE INDEX agent_memories_documents ON agent_memories (app_id, user_id, conversation_id, created_at, id)
    WHERE status = 'active';
-- Documents name the messages whose facts a memory superseded. With the owner, as the queries have it, the index is the
-- best one also before there are statistics: otherwise documents would be read by an index of the owner, all of the
-- user's memories for each of them.
CREATE INDEX agent_memories_superseded ON agent_memories (app_id, user_id, superseded_by)
    WHERE superseded_by IS NOT NULL;

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

-- Statistics count the active memories that have an end.
CREATE INDEX agent_memories_shelf_lives ON agent_memories (app_id, user_id, expires_at)
    WHERE status = 'active' AND expires_at IS NOT NULL;
-- The faded memories of a user, the one that was accessed last first.
CREATE INDEX agent_memories_faded ON agent_memories (app_id, user_id, last_accessed_at, id) WHERE faded;
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

-- Episodes of users; see db.Episode.
CREATE TABLE episodes (
    app_id   text COLLATE "C" NOT NULL,
    user_id  text COLLATE "C" NOT NULL,
    id       uuid NOT NULL,
    agent_id text COLLATE "C" NOT NULL,
    theme_id uuid,
    began    timestamptz NOT NULL,
    ended    timestamptz NOT NULL,
    basis    text NOT NULL,
    label    json NOT NULL CHECK (json_typeof(label) = 'object'),
    PRIMARY KEY (app_id, user_id, id)
);
CREATE INDEX episodes_by_end ON episodes (app_id, user_id, ended, id);
CREATE INDEX episodes_of_theme ON episodes (app_id, user_id, theme_id, ended, id);

-- The memories of episodes. A memory is in one at most.
CREATE TABLE episode_memories (
    app_id     text COLLATE "C" NOT NULL,
    user_id    text COLLATE "C" NOT NULL,
    memory_id  uuid NOT NULL,
    episode_id uuid NOT NULL,
    PRIMARY KEY (app_id, user_id, memory_id),
    FOREIGN KEY (app_id, user_id, episode_id) REFERENCES episodes ON DELETE CASCADE
);
CREATE INDEX episode_memories_of_episode ON episode_memories (app_id, user_id, episode_id);

-- The revision of an owner's memories that the episodes were made from; see db.EpisodeState.
CREATE TABLE episode_states (
    app_id   text COLLATE "C" NOT NULL,
    user_id  text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    PRIMARY KEY (app_id, user_id)
);

-- Which memories of the shared pools of apps are whose; see memory.Pooled.
CREATE TABLE pooled (
    id          uuid PRIMARY KEY,
    app_id      text COLLATE "C" NOT NULL,
    user_id     text COLLATE "C" NOT NULL,
    agent_id    text COLLATE "C" NOT NULL,
    memory_id   uuid, -- null: what was copied is not known any more
    promoted_at timestamptz NOT NULL,
    key_id      text COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX pooled_of_memory ON pooled (app_id, user_id, memory_id);
CREATE INDEX pooled_by_time ON pooled (app_id, promoted_at, id);
