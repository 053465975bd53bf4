-- +goose Up

-- Users who are being erased or have been: a hash stands for each.
CREATE TABLE erasures (
    owner_hash   bytea PRIMARY KEY CHECK (octet_length(owner_hash) = 32), -- SHA-256 of app and user
    round        bigint NOT NULL CHECK (round >= 1), -- how many erasures there have been
    state        text NOT NULL CHECK (state IN ('erasing', 'done')),
    requested_at timestamptz NOT NULL,
    done_at      timestamptz,
    deleted      json NOT NULL, -- counts
    CHECK ((state = 'done') = (done_at IS NOT NULL))
);
