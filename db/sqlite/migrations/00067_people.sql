-- +goose Up

-- Copies of turns in which several people take part; see memory.Share.
ALTER TABLE turns ADD COLUMN shared_turn TEXT; -- id of the copy of the user in whose name the turn was given
ALTER TABLE turns ADD COLUMN shared_name TEXT NOT NULL DEFAULT ''; -- of the user
CREATE INDEX turns_shared ON turns (app_id, shared_turn) WHERE shared_turn IS NOT NULL;

-- The users who take part in conversations, by the names that they have there. The rows outlive the conversation, so
-- that the erasure of a user finds what the user has said in the copies of others.
CREATE TABLE participants (
    app_id          TEXT NOT NULL,
    user_id         TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    name            TEXT NOT NULL CHECK (length(CAST(name AS BLOB)) <= 256),
    PRIMARY KEY (app_id, conversation_id, user_id, name)
) WITHOUT ROWID;
CREATE INDEX participants_of_user ON participants (app_id, user_id);

-- +goose Down

DROP TABLE participants;
DROP INDEX turns_shared;
ALTER TABLE turns DROP COLUMN shared_name;
ALTER TABLE turns DROP COLUMN shared_turn;
