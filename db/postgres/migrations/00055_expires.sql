-- +goose Up

-- From when on a statement is former; null: it has no such time.
ALTER TABLE agent_memories ADD COLUMN expires_at timestamptz;
ALTER TABLE candidates ADD COLUMN expires_at timestamptz; -- as the scorer proposed it
ALTER TABLE turns ADD COLUMN expires_at timestamptz; -- of all memories of the turn, as its client chose it

-- +goose Down

ALTER TABLE turns DROP COLUMN expires_at;
ALTER TABLE candidates DROP COLUMN expires_at;
ALTER TABLE agent_memories DROP COLUMN expires_at;
