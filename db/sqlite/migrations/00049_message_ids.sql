-- +goose Up

-- In which turns of a conversation its client gave an id to a message. A turn that was withdrawn keeps its rows.
CREATE TABLE message_ids (
    app_id          TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    user_id         TEXT NOT NULL CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 256),
    conversation_id TEXT NOT NULL CHECK (length(CAST(conversation_id AS BLOB)) BETWEEN 1 AND 256),
    id              TEXT NOT NULL CHECK (length(CAST(id AS BLOB)) BETWEEN 1 AND 256),
    turn_id         TEXT NOT NULL,
    PRIMARY KEY (app_id, user_id, conversation_id, id, turn_id)
) WITHOUT ROWID;

-- +goose Down

DROP TABLE message_ids;
