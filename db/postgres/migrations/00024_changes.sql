-- +goose Up

-- The number of the latest change of the user's memories that changed this one. Memories
-- from before these numbers have 0.
ALTER TABLE agent_memories ADD COLUMN change bigint NOT NULL DEFAULT 0;
CREATE INDEX agent_memories_changes ON agent_memories (app_id, user_id, change) WHERE change > 0;

-- Revisions count the changes of each user's memories.
UPDATE revisions SET revision = 1;
-- The changes after this one can be read from the rows of the memories. Others were of
-- memories that have been deleted since.
ALTER TABLE revisions ADD COLUMN complete_after bigint NOT NULL DEFAULT 1;

-- The index that recall has made of a user with many memories, as it was at a revision.
CREATE TABLE indexes (
    app_id   text COLLATE "C" NOT NULL,
    user_id  text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    data     bytea NOT NULL,
    PRIMARY KEY (app_id, user_id)
);
ALTER TABLE indexes ALTER COLUMN data SET STORAGE EXTERNAL; -- hashes do not compress
