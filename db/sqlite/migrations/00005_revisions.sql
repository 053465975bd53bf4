-- +goose Up

-- A number for each user's memories as they are: it is another one after every
-- change, so that what was read of them before is known to be out of date.
CREATE TABLE revisions (
    owner_hash BLOB PRIMARY KEY NOT NULL CHECK (length(owner_hash) = 32), -- SHA-256 of app and user
    revision   INTEGER NOT NULL
) WITHOUT ROWID;
