-- +goose Up

-- Documents name the messages whose facts a memory superseded.
CREATE INDEX agent_memories_superseded_by ON agent_memories (superseded_by) WHERE superseded_by IS NOT NULL;

-- +goose Down

DROP INDEX agent_memories_superseded_by;
