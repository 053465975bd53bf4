-- Each embedding has its own row near those of the same user, since a recall for a user of few memories reads them all.
-- Postgres keeps a row whole if two of them fit on a page, which is up to some 1,000 numbers, and otherwise splits it.
-- Embeddings do not compress.
CREATE TABLE embeddings (
    memory_id uuid PRIMARY KEY,
    app_id    text COLLATE "C" NOT NULL,
    user_id   text COLLATE "C" NOT NULL,
    active    boolean NOT NULL, -- is the memory?
    model     text NOT NULL,    -- the memory's embedding_model
    embedding bytea CHECK (octet_length(embedding) % 4 = 0) -- float32 little-endian
) WITH (toast_tuple_target = 4080);
ALTER TABLE embeddings ALTER COLUMN embedding SET STORAGE EXTERNAL;
CREATE INDEX embeddings_by_user ON embeddings (app_id, user_id) WHERE active;

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

-- Embeddings by the model that is to serve.
CREATE TABLE reembeddings (
    memory_id uuid PRIMARY KEY REFERENCES agent_memories ON DELETE CASCADE,
    model     text NOT NULL,
    embedding bytea NOT NULL CHECK (octet_length(embedding) % 4 = 0) -- float32 little-endian
);
ALTER TABLE reembeddings ALTER COLUMN embedding SET STORAGE EXTERNAL;
CREATE FUNCTION outdate_reembedding() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM reembeddings WHERE memory_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER outdate_reembedding AFTER UPDATE OF content ON agent_memories
    FOR EACH ROW WHEN (OLD.content_hash <> NEW.content_hash) EXECUTE FUNCTION outdate_reembedding();

-- What the cosine similarities of each embedding space mean; see memory.Calibration.
CREATE TABLE calibrations (
    model             text COLLATE "C" NOT NULL,
    dim               integer NOT NULL,
    english_unrelated double precision NOT NULL,
    english_related   double precision NOT NULL,
    english_floor     double precision NOT NULL DEFAULT 0, -- the mean cosine of two unrelated statements
    chinese_unrelated double precision NOT NULL,
    chinese_related   double precision NOT NULL,
    chinese_floor     double precision NOT NULL DEFAULT 0,
    PRIMARY KEY (model, dim)
);

-- The index that recall has made of a user with many memories, as it was at a revision.
CREATE TABLE indexes (
    app_id   text COLLATE "C" NOT NULL,
    user_id  text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    data     bytea NOT NULL,
    PRIMARY KEY (app_id, user_id)
);
ALTER TABLE indexes ALTER COLUMN data SET STORAGE EXTERNAL; -- hashes do not compress

-- A revision counts the changes of a user's memories, so that what was read of them before one is known to be out of
-- date. The changes after complete_after can be read from the rows of the memories. Others were of memories that have
-- been deleted since.
CREATE TABLE revisions (
    owner_hash     bytea PRIMARY KEY CHECK (octet_length(owner_hash) = 32), -- SHA-256 of app and user
    revision       bigint NOT NULL,
    complete_after bigint NOT NULL DEFAULT 1
);
