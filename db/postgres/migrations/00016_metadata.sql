-- +goose Up

-- Finds memories by what their metadata contains. The column itself stays json,
-- which keeps the text as it was written.
CREATE INDEX agent_memories_metadata ON agent_memories USING gin ((metadata::jsonb) jsonb_path_ops)
    WHERE metadata IS NOT NULL;

-- Tells the planner which contents are rare. It takes no statistics from a partial index.
CREATE STATISTICS agent_memories_metadata_values ON (metadata::jsonb) FROM agent_memories;
