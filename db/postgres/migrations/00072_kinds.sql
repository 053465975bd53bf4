-- +goose Up

-- Statistics count the active memories of each user, domain and type.
CREATE INDEX agent_memories_kinds ON agent_memories (app_id, user_id, domain, memory_type) WHERE status = 'active';

-- +goose Down

