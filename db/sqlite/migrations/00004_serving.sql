-- +goose Up

-- Which embedding space serves, in one row.
CREATE TABLE serving (
    one          INTEGER PRIMARY KEY CHECK (one = 1),
    model        TEXT NOT NULL,
    dim          INTEGER NOT NULL CHECK (dim > 0),
    target_model TEXT NOT NULL,
    target_dim   INTEGER NOT NULL CHECK (target_dim > 0),
    former_model TEXT NOT NULL DEFAULT '',
    former_dim   INTEGER NOT NULL DEFAULT 0,
    copied_at    INTEGER,
    changed_at   INTEGER NOT NULL,
    holder       TEXT NOT NULL DEFAULT '',
    held_until   INTEGER
);
INSERT INTO serving (one, model, dim, target_model, target_dim, changed_at)
SELECT 1, embedding_model, length(embedding) / 4, embedding_model, length(embedding) / 4, unixepoch() * 1000000
FROM agent_memories WHERE embedding_model <> '' AND length(embedding) > 0 LIMIT 1;

-- Embeddings by the model that is to serve.
CREATE TABLE reembeddings (
    memory_id TEXT PRIMARY KEY NOT NULL REFERENCES agent_memories ON DELETE CASCADE,
    model     TEXT NOT NULL,
    embedding BLOB NOT NULL CHECK (length(embedding) % 4 = 0) -- float32 little-endian
);

-- +goose StatementBegin
CREATE TRIGGER outdate_reembedding AFTER UPDATE OF content ON agent_memories
WHEN OLD.content_hash <> NEW.content_hash
BEGIN
    DELETE FROM reembeddings WHERE memory_id = NEW.id;
END;
-- +goose StatementEnd
