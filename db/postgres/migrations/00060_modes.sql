-- +goose Up

-- How much of memory is on for a conversation; of the user, without an id.
ALTER TABLE user_modes
    ADD COLUMN conversation_id text COLLATE "C" NOT NULL DEFAULT '' CHECK (octet_length(conversation_id) <= 256),
    DROP CONSTRAINT user_modes_pkey,
    ADD PRIMARY KEY (app_id, user_id, conversation_id);

-- How much of memory is on for the requests of a key; empty: it is on.
ALTER TABLE api_keys ADD COLUMN memory text NOT NULL DEFAULT '' CHECK (memory IN ('', 'read', 'off'));

-- +goose Down

ALTER TABLE api_keys DROP COLUMN memory;

DELETE FROM user_modes WHERE conversation_id <> '';
ALTER TABLE user_modes
    DROP CONSTRAINT user_modes_pkey,
    DROP COLUMN conversation_id,
    ADD PRIMARY KEY (app_id, user_id);
