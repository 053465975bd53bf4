-- +goose Up

-- How much of memory is on for a user. It is on without a row.
CREATE TABLE user_modes (
    app_id  TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    user_id TEXT NOT NULL CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 256),
    mode    TEXT NOT NULL CHECK (mode IN ('read', 'off')),
    PRIMARY KEY (app_id, user_id)
) WITHOUT ROWID;

-- +goose Down

DROP TABLE user_modes;
