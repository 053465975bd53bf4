-- +goose Up

-- A key of the role operator works on the whole server and may belong to no app. SQLite cannot change
-- a CHECK, so the table is written again. The key that the server made or was configured with has been
-- the key of its operator.
ALTER TABLE api_keys RENAME TO api_keys_before;
DROP INDEX api_keys_by_app;
CREATE TABLE api_keys (
    id         TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
    hash       TEXT NOT NULL UNIQUE,
    name       TEXT NOT NULL,
    app_id     TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) <= 256 AND (app_id <> '' OR role = 'operator')),
    role       TEXT NOT NULL CHECK (role IN ('read', 'write', 'admin', 'operator')),
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
);
INSERT INTO api_keys SELECT * FROM api_keys_before;
DROP TABLE api_keys_before;
UPDATE api_keys SET role = 'operator' WHERE app_id = 'default' AND role = 'admin' AND name IN ('first', 'configured');
CREATE INDEX api_keys_by_app ON api_keys (app_id, created_at, id);
