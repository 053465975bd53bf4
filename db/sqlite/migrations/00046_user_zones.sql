-- +goose Up

-- What is known of the time zone of a user: a name that was chosen, and the offset of the last turn that had one.
CREATE TABLE user_zones (
    app_id      TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    user_id     TEXT NOT NULL CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 256),
    chosen      TEXT NOT NULL CHECK (length(CAST(chosen AS BLOB)) <= 64),
    last_offset TEXT NOT NULL CHECK (length(CAST(last_offset AS BLOB)) <= 6),
    PRIMARY KEY (app_id, user_id)
) WITHOUT ROWID;

-- +goose Down

DROP TABLE user_zones;
