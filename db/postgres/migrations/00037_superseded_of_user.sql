-- +goose Up

-- With the owner, as the queries have it, the index is the best one also before there are statistics: otherwise
-- documents were read by an index of the owner, all of the user's memories for each of them.
CREATE INDEX agent_memories_superseded ON agent_memories (app_id, user_id, superseded_by)
    WHERE superseded_by IS NOT NULL;
DROP INDEX agent_memories_superseded_by;

-- +goose Down

CREATE INDEX agent_memories_superseded_by ON agent_memories (superseded_by) WHERE superseded_by IS NOT NULL;
DROP INDEX agent_memories_superseded;
