-- +goose Up

-- The user to whom the rows move, as a hash; null: they are deleted.
ALTER TABLE erasures ADD COLUMN into_hash BLOB CHECK (into_hash IS NULL OR length(into_hash) = 32);
CREATE INDEX erasures_into ON erasures (into_hash) WHERE state = 'erasing' AND into_hash IS NOT NULL;

-- +goose Down

DROP INDEX erasures_into;
ALTER TABLE erasures DROP COLUMN into_hash;
