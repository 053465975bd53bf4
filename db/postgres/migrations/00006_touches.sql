-- +goose Up

-- An access changes a row in place when no index holds what it changes and the
-- page has room: every recall counts some. What was handed out lately is found
-- among the user's active memories.
DROP INDEX agent_memories_handed_out;
ALTER TABLE agent_memories SET (fillfactor = 85);
