-- +goose Up

-- Whether the messages of a processed turn are memories, unless messages are turned off. A job
-- takes in those of turns from before messages were kept.
ALTER TABLE turns ADD COLUMN messages_kept INTEGER NOT NULL DEFAULT 1;
UPDATE turns SET messages_kept = 0;
CREATE INDEX turns_without_messages ON turns (id) WHERE NOT messages_kept AND status = 'processed';
