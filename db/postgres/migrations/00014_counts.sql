-- +goose Up

-- What memories are counted by lies beside what they are listed by. An index of its
-- own was rewritten whenever a vector had arrived, a tenth of what a memory costs here.
DROP INDEX agent_memories_counts;
DROP INDEX agent_memories_by_time;
CREATE INDEX agent_memories_by_time ON agent_memories (app_id, user_id, created_at, id) INCLUDE (status, memory_type, domain);
