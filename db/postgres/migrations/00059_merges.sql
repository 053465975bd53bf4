-- +goose Up

-- The user to whom the rows move, as a hash; null: they are deleted.
ALTER TABLE erasures ADD COLUMN into_hash bytea CHECK (octet_length(into_hash) = 32);
CREATE INDEX erasures_into ON erasures (into_hash) WHERE state = 'erasing' AND into_hash IS NOT NULL;

-- A memory that moves to another partition is deleted from its own: what belongs to it stays then.
-- +goose StatementBegin
DO $do$ BEGIN
    IF to_regproc('delete_with_memory') IS NOT NULL THEN
        CREATE OR REPLACE FUNCTION delete_with_memory() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF current_setting('hippocampus.moving', true) IS DISTINCT FROM 'on' THEN
                DELETE FROM memory_relations WHERE from_id = OLD.id OR to_id = OLD.id;
                DELETE FROM reembeddings WHERE memory_id = OLD.id;
            END IF;
            RETURN NULL;
        END $$;
    END IF;
END $do$;
-- +goose StatementEnd

-- +goose Down

DROP INDEX erasures_into;
ALTER TABLE erasures DROP COLUMN into_hash;
