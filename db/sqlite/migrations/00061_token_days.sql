-- +goose Up

-- How many tokens the models have used for an app on a day; see memory.TokenDay.
CREATE TABLE token_days (
    app_id TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    day    INTEGER NOT NULL,
    kind   TEXT NOT NULL CHECK (kind IN ('chat', 'embedding')),
    tokens INTEGER NOT NULL CHECK (tokens >= 0),
    PRIMARY KEY (app_id, day, kind)
) WITHOUT ROWID;

-- +goose Down

DROP TABLE token_days;
