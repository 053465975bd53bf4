-- +goose Up

-- Which embedding space serves, in one row.
CREATE TABLE serving (
    one          boolean PRIMARY KEY DEFAULT true CHECK (one),
    model        text NOT NULL,
    dim          integer NOT NULL CHECK (dim > 0),
    target_model text NOT NULL,
    target_dim   integer NOT NULL CHECK (target_dim > 0),
    former_model text NOT NULL DEFAULT '',
    former_dim   integer NOT NULL DEFAULT 0,
    copied_at    timestamptz,
    changed_at   timestamptz NOT NULL,
    holder       text NOT NULL DEFAULT '',
    held_until   timestamptz
);
INSERT INTO serving (model, dim, target_model, target_dim, changed_at)
SELECT embedding_model, octet_length(embedding) / 4, embedding_model, octet_length(embedding) / 4, now()
FROM agent_memories WHERE embedding_model <> '' AND octet_length(embedding) > 0 LIMIT 1;

-- Embeddings by the model that is to serve.
CREATE TABLE reembeddings (
    memory_id uuid PRIMARY KEY REFERENCES agent_memories ON DELETE CASCADE,
    model     text NOT NULL,
    embedding bytea NOT NULL CHECK (octet_length(embedding) % 4 = 0) -- float32 little-endian
);
ALTER TABLE reembeddings ALTER COLUMN embedding SET STORAGE EXTERNAL;

-- +goose StatementBegin
CREATE FUNCTION outdate_reembedding() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM reembeddings WHERE memory_id = NEW.id;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER outdate_reembedding AFTER UPDATE OF content ON agent_memories
    FOR EACH ROW WHEN (OLD.content_hash <> NEW.content_hash) EXECUTE FUNCTION outdate_reembedding();
