-- +goose Up

-- Users who are being erased or have been: a hash stands for each.
CREATE TABLE erasures (
    owner_hash   BLOB PRIMARY KEY NOT NULL CHECK (length(owner_hash) = 32), -- SHA-256 of app and user
    round        INTEGER NOT NULL CHECK (round >= 1), -- how many erasures there have been
    state        TEXT NOT NULL CHECK (state IN ('erasing', 'done')),
    requested_at INTEGER NOT NULL,
    done_at      INTEGER,
    deleted      TEXT NOT NULL CHECK (json_type(deleted) = 'object'), -- counts
    CHECK ((state = 'done') = (done_at IS NOT NULL))
);
