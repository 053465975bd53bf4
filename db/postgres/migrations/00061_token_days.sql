-- +goose Up

-- How many tokens the models have used for an app on a day; see memory.TokenDay.
CREATE TABLE token_days (
    app_id text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    day    integer NOT NULL,
    kind   text COLLATE "C" NOT NULL CHECK (kind IN ('chat', 'embedding')),
    tokens bigint NOT NULL CHECK (tokens >= 0),
    PRIMARY KEY (app_id, day, kind)
);

-- +goose Down

DROP TABLE token_days;
