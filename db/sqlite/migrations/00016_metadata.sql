-- +goose Up

-- Most memories have no metadata; those that have are listed by it.
CREATE INDEX agent_memories_metadata ON agent_memories (app_id, user_id, created_at, id)
    WHERE metadata IS NOT NULL;
