-- +goose Up

-- Parts of a turn's messages that no reader gets, since a statement of them was forgotten.
ALTER TABLE turns ADD COLUMN withheld TEXT;
-- How often what is withheld of a conversation's turns has changed.
ALTER TABLE conversations ADD COLUMN edition INTEGER NOT NULL DEFAULT 0;

-- +goose Down

ALTER TABLE turns DROP COLUMN withheld;
ALTER TABLE conversations DROP COLUMN edition;
