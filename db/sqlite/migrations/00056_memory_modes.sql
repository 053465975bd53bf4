-- +goose Up

-- How much of memory was on for a turn: read or off; null: on.
ALTER TABLE turns ADD COLUMN memory TEXT;

-- +goose Down

ALTER TABLE turns DROP COLUMN memory;
