-- +goose Up

-- Memories are counted by agent_memories_by_time, which no arrival of a vector changes.
DROP INDEX agent_memories_counts;
