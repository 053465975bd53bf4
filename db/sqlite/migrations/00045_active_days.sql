-- +goose Up

-- The days since 1970-01-01 (UTC) on which a user was active, with an agent, or at all if agent_id is ''.
CREATE TABLE active_days (
    app_id   TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    user_id  TEXT NOT NULL CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 256),
    agent_id TEXT NOT NULL CHECK (length(CAST(agent_id AS BLOB)) <= 256),
    day      INTEGER NOT NULL,
    PRIMARY KEY (app_id, user_id, agent_id, day)
) WITHOUT ROWID;

-- What is known of the days before: turns, writes and accesses. What maintenance writes is no activity.
INSERT INTO active_days
    SELECT app_id, user_id, agent_id, at / 86400000000 FROM (
        SELECT app_id, user_id, agent_id, accepted_at AS at FROM turns
        UNION ALL SELECT app_id, user_id, agent_id, updated_at FROM agent_memories
            WHERE status = 'active' AND memory_type NOT IN ('reflection', 'summary')
        UNION ALL SELECT app_id, user_id, agent_id, last_accessed_at FROM agent_memories
            WHERE status = 'active' AND access_count > 0)
    WHERE true ON CONFLICT DO NOTHING;
INSERT INTO active_days SELECT app_id, user_id, '', day FROM active_days WHERE agent_id <> '' ON CONFLICT DO NOTHING;

-- The index of ages holds whose days count for a memory.
DROP INDEX agent_memories_ages;
CREATE INDEX agent_memories_ages ON agent_memories (app_id, user_id, access_count > 0, last_accessed_at, id,
    access_count, updated_at, created_at, importance_score, memory_type, pinned, domain, agent_id)
    WHERE status = 'active';

-- +goose Down

DROP TABLE active_days;
DROP INDEX agent_memories_ages;
CREATE INDEX agent_memories_ages ON agent_memories (app_id, user_id, access_count > 0, last_accessed_at, id,
    access_count, updated_at, created_at, importance_score, memory_type, pinned, domain) WHERE status = 'active';
