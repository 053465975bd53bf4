-- +goose Up

-- Each embedding has its own row near those of the same user, since a recall for a
-- user of few memories reads them all. Postgres keeps a row whole if two of them fit
-- on a page, which is up to some 1,000 numbers, and otherwise splits it.
CREATE TABLE embeddings (
    memory_id uuid PRIMARY KEY,
    app_id    text COLLATE "C" NOT NULL,
    user_id   text COLLATE "C" NOT NULL,
    active    boolean NOT NULL, -- is the memory?
    model     text NOT NULL,    -- the memory's embedding_model
    embedding bytea CHECK (octet_length(embedding) % 4 = 0) -- float32 little-endian
) WITH (toast_tuple_target = 4080);
ALTER TABLE embeddings ALTER COLUMN embedding SET STORAGE EXTERNAL;
INSERT INTO embeddings SELECT id, app_id, user_id, status = 'active', embedding_model, embedding
FROM agent_memories ORDER BY app_id, user_id, created_at;
CREATE INDEX embeddings_by_user ON embeddings (app_id, user_id) WHERE active;
ALTER TABLE agent_memories DROP COLUMN embedding;
