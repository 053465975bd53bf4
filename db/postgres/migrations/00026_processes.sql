-- +goose Up

-- The processes that work on jobs. Jobs of a process that died are begun again.
CREATE TABLE processes (
    id      text PRIMARY KEY,
    seen_at timestamptz NOT NULL -- by the clock of the database
);
