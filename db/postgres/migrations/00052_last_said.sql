-- +goose Up

-- When a memory was said again, or edited, last. Null: not after it was said first.
ALTER TABLE agent_memories ADD COLUMN last_said_at timestamptz;

-- +goose Down

ALTER TABLE agent_memories DROP COLUMN last_said_at;
