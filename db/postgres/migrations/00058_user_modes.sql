-- +goose Up

-- How much of memory is on for a user. It is on without a row.
CREATE TABLE user_modes (
    app_id  text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    user_id text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 256),
    mode    text COLLATE "C" NOT NULL CHECK (mode IN ('read', 'off')),
    PRIMARY KEY (app_id, user_id)
);

-- +goose Down

DROP TABLE user_modes;
