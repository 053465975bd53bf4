-- +goose Up

-- How much of a turn's messages is not remembered, and why.
ALTER TABLE turns ADD COLUMN left_out TEXT;

-- +goose Down

ALTER TABLE turns DROP COLUMN left_out;
