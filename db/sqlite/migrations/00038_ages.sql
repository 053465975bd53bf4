-- +goose Up

-- With all that the retention of a memory is computed from, the index of what was handed out lately also answers what
-- fades. An access changes one entry, as before.
DROP INDEX agent_memories_handed_out;
CREATE INDEX agent_memories_ages ON agent_memories (app_id, user_id, access_count > 0, last_accessed_at, id,
    access_count, updated_at, created_at, importance_score, memory_type, pinned) WHERE status = 'active';

-- +goose Down

DROP INDEX agent_memories_ages;
CREATE INDEX agent_memories_handed_out ON agent_memories (app_id, user_id, last_accessed_at)
    WHERE status = 'active' AND access_count > 0;
