-- +goose Up

-- Few memories of a user are inactive, or private to an agent: they are listed by these.
CREATE INDEX agent_memories_inactive ON agent_memories (app_id, user_id, status, created_at, id)
    WHERE status <> 'active';
CREATE INDEX agent_memories_of_agents ON agent_memories (app_id, user_id, agent_id, created_at, id)
    WHERE agent_id <> '';

-- +goose Down

DROP INDEX agent_memories_inactive;
DROP INDEX agent_memories_of_agents;
