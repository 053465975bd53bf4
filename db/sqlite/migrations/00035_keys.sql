-- +goose Up

-- A key names the key by which it was created, and the one by which it was revoked; empty: a command did it.
ALTER TABLE api_keys ADD COLUMN created_by TEXT NOT NULL DEFAULT '';
ALTER TABLE api_keys ADD COLUMN revoked_by TEXT NOT NULL DEFAULT '';

-- Operators list the keys of all apps.
CREATE INDEX api_keys_by_time ON api_keys (created_at, id);
