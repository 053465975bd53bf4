-- +goose Up

-- Whether a memory was forgotten because it had faded. Recall may find it again; what a request forgets is never marked.
ALTER TABLE agent_memories ADD COLUMN faded INTEGER NOT NULL DEFAULT 0 CHECK (faded IN (0, 1));

-- The faded memories of a user, the one that was accessed last first, with the words that a recall compares.
CREATE INDEX agent_memories_faded ON agent_memories (app_id, user_id, last_accessed_at, id, lexemes, status)
    WHERE faded;

-- +goose Down

DROP INDEX agent_memories_faded;
ALTER TABLE agent_memories DROP COLUMN faded;
