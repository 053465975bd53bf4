-- +goose Up

-- The index for lists also serves counts. A separate index was rewritten for each
-- vector that arrived, which was a tenth of the cost of a memory here.
DROP INDEX agent_memories_counts;
DROP INDEX agent_memories_by_time;
CREATE INDEX agent_memories_by_time ON agent_memories (app_id, user_id, created_at, id) INCLUDE (status, memory_type, domain);
