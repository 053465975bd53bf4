-- +goose Up

-- Most memories have no tags; those that have are listed by them.
CREATE INDEX agent_memories_tagged ON agent_memories (app_id, user_id, created_at, id)
    WHERE cardinality(tags) > 0;
