-- +goose Up

-- Which memories of the shared pools of apps are whose; see memory.Pooled.
CREATE TABLE pooled (
    id          TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
    app_id      TEXT NOT NULL,
    user_id     TEXT NOT NULL,
    agent_id    TEXT NOT NULL,
    memory_id   TEXT CHECK (length(memory_id) = 36), -- null: what was copied is not known any more
    promoted_at INTEGER NOT NULL,
    key_id      TEXT NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX pooled_of_memory ON pooled (app_id, user_id, memory_id);
CREATE INDEX pooled_by_time ON pooled (app_id, promoted_at, id);

-- What a key may do with the pool of its app; empty: see memory.Key.
ALTER TABLE api_keys ADD COLUMN pool TEXT NOT NULL DEFAULT '' CHECK (pool IN ('', 'none', 'read', 'write'));

-- +goose Down

ALTER TABLE api_keys DROP COLUMN pool;
DROP TABLE pooled;
