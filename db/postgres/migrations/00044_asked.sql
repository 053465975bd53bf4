-- +goose Up

-- What another speaker asked just before a short message, which is embedded and searched with it.
ALTER TABLE agent_memories ADD COLUMN asked text NOT NULL DEFAULT '';

-- +goose Down

ALTER TABLE agent_memories DROP COLUMN asked;
