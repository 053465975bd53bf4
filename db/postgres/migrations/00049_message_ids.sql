-- +goose Up

-- In which turns of a conversation its client gave an id to a message. A turn that was withdrawn keeps its rows.
CREATE TABLE message_ids (
    app_id          text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    user_id         text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 256),
    conversation_id text COLLATE "C" NOT NULL CHECK (octet_length(conversation_id) BETWEEN 1 AND 256),
    id              text COLLATE "C" NOT NULL CHECK (octet_length(id) BETWEEN 1 AND 256),
    turn_id         uuid NOT NULL,
    PRIMARY KEY (app_id, user_id, conversation_id, id, turn_id)
);

-- +goose Down

DROP TABLE message_ids;
