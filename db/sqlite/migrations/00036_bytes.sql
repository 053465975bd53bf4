-- +goose Up

-- With the length of the content, what a user keeps is counted without reading the memories.
DROP INDEX agent_memories_by_time;
CREATE INDEX agent_memories_by_time ON agent_memories (app_id, user_id, created_at, id, status, memory_type, domain,
    octet_length(content));

-- +goose Down

DROP INDEX agent_memories_by_time;
CREATE INDEX agent_memories_by_time ON agent_memories (app_id, user_id, created_at, id, status, memory_type, domain);
