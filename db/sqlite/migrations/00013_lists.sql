-- +goose Up

-- What lists are filtered by, so that they read only the memories that they return.
DROP INDEX agent_memories_by_time;
CREATE INDEX agent_memories_by_time ON agent_memories (app_id, user_id, created_at, id, status, memory_type, domain);
