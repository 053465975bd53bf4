-- +goose Up

-- Whether the messages of a processed turn are memories, unless messages are turned off. A job
-- takes in those of turns from before messages were kept.
ALTER TABLE turns ADD COLUMN messages_kept boolean NOT NULL DEFAULT false;
ALTER TABLE turns ALTER COLUMN messages_kept SET DEFAULT true;
CREATE INDEX turns_without_messages ON turns (id) WHERE NOT messages_kept AND status = 'processed';
