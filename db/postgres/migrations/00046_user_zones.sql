-- +goose Up

-- What is known of the time zone of a user: a name that was chosen, and the offset of the last turn that had one.
CREATE TABLE user_zones (
    app_id      text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    user_id     text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 256),
    chosen      text NOT NULL CHECK (octet_length(chosen) <= 64),
    last_offset text NOT NULL CHECK (octet_length(last_offset) <= 6),
    PRIMARY KEY (app_id, user_id)
);

-- +goose Down

DROP TABLE user_zones;
