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

-- Embeddings by the model that is to serve.
CREATE TABLE reembeddings (
    memory_id TEXT PRIMARY KEY NOT NULL REFERENCES agent_memories ON DELETE CASCADE,
    model     TEXT NOT NULL,
    embedding BLOB NOT NULL CHECK (length(embedding) % 4 = 0) -- float32 little-endian
);
CREATE TRIGGER outdate_reembedding AFTER UPDATE OF content ON agent_memories
WHEN OLD.content_hash <> NEW.content_hash
BEGIN
    DELETE FROM reembeddings WHERE memory_id = NEW.id;
END;

-- What the cosine similarities of each embedding space mean; see memory.Calibration.
CREATE TABLE calibrations (
    model             TEXT NOT NULL,
    dim               INTEGER NOT NULL,
    english_unrelated REAL NOT NULL,
    english_related   REAL NOT NULL,
    english_floor     REAL NOT NULL DEFAULT 0, -- the mean cosine of two unrelated statements
    chinese_unrelated REAL NOT NULL,
    chinese_related   REAL NOT NULL,
    chinese_floor     REAL NOT NULL DEFAULT 0,
    PRIMARY KEY (model, dim)
);

-- The index that recall has made of a user with many memories, as it was at a revision.
CREATE TABLE indexes (
    app_id   TEXT NOT NULL,
    user_id  TEXT NOT NULL,
    revision INTEGER NOT NULL,
    data     BLOB NOT NULL,
    PRIMARY KEY (app_id, user_id)
);

-- A revision counts the changes of a user's memories, so that what was read of them before one is known to be out of
-- date. The changes after complete_after can be read from the rows of the memories. Others were of memories that have
-- been deleted since.
CREATE TABLE revisions (
    owner_hash     BLOB PRIMARY KEY NOT NULL CHECK (length(owner_hash) = 32), -- SHA-256 of app and user
    revision       INTEGER NOT NULL,
    complete_after INTEGER NOT NULL DEFAULT 1
) WITHOUT ROWID;
