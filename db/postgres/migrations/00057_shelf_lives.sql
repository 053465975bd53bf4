-- +goose Up

-- Statistics count the active memories that have an end.
CREATE INDEX agent_memories_shelf_lives ON agent_memories (app_id, user_id, expires_at)
    WHERE status = 'active' AND expires_at IS NOT NULL;

-- +goose Down

DROP INDEX agent_memories_shelf_lives;
