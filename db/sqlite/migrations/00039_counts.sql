-- +goose Up

-- Memories by status, domain and type are counted from indexes alone, without the rows.
DROP INDEX agent_memories_ages;
CREATE INDEX agent_memories_ages ON agent_memories (app_id, user_id, access_count > 0, last_accessed_at, id,
    access_count, updated_at, created_at, importance_score, memory_type, pinned, domain) WHERE status = 'active';

-- +goose Down

DROP INDEX agent_memories_ages;
CREATE INDEX agent_memories_ages ON agent_memories (app_id, user_id, access_count > 0, last_accessed_at, id,
    access_count, updated_at, created_at, importance_score, memory_type, pinned) WHERE status = 'active';
