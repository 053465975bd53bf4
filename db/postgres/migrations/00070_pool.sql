-- +goose Up

-- Which memories of the shared pools of apps are whose; see memory.Pooled.
CREATE TABLE pooled (
    id          uuid PRIMARY KEY,
    app_id      text COLLATE "C" NOT NULL,
    user_id     text COLLATE "C" NOT NULL,
    agent_id    text COLLATE "C" NOT NULL,
    memory_id   uuid, -- null: what was copied is not known any more
    promoted_at timestamptz NOT NULL,
    key_id      text COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX pooled_of_memory ON pooled (app_id, user_id, memory_id);
CREATE INDEX pooled_by_time ON pooled (app_id, promoted_at, id);

-- What a key may do with the pool of its app; empty: see memory.Key.
ALTER TABLE api_keys ADD COLUMN pool text NOT NULL DEFAULT '' CHECK (pool IN ('', 'none', 'read', 'write'));

-- +goose Down

ALTER TABLE api_keys DROP COLUMN pool;
DROP TABLE pooled;
