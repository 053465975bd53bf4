-- +goose Up

-- How much of memory is on for a user, or for a conversation with its id. It is on without a row.
CREATE TABLE user_modes_next (
    app_id          TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    user_id         TEXT NOT NULL CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 256),
    conversation_id TEXT NOT NULL CHECK (length(CAST(conversation_id AS BLOB)) <= 256),
    mode            TEXT NOT NULL CHECK (mode IN ('read', 'off')),
    PRIMARY KEY (app_id, user_id, conversation_id)
) WITHOUT ROWID;
INSERT INTO user_modes_next SELECT app_id, user_id, '', mode FROM user_modes;
DROP TABLE user_modes;
ALTER TABLE user_modes_next RENAME TO user_modes;

-- How much of memory is on for the requests of a key; empty: it is on.
ALTER TABLE api_keys ADD COLUMN memory TEXT NOT NULL DEFAULT '' CHECK (memory IN ('', 'read', 'off'));

-- +goose Down

ALTER TABLE api_keys DROP COLUMN memory;

CREATE TABLE user_modes_before (
    app_id  TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    user_id TEXT NOT NULL CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 256),
    mode    TEXT NOT NULL CHECK (mode IN ('read', 'off')),
    PRIMARY KEY (app_id, user_id)
) WITHOUT ROWID;
INSERT INTO user_modes_before SELECT app_id, user_id, mode FROM user_modes WHERE conversation_id = '';
DROP TABLE user_modes;
ALTER TABLE user_modes_before RENAME TO user_modes;
