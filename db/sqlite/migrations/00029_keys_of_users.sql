-- +goose Up

-- A key may be bound to one user, and then reads and writes what belongs to that user alone.
ALTER TABLE api_keys ADD COLUMN user_id TEXT NOT NULL DEFAULT '' CHECK (
    length(CAST(user_id AS BLOB)) <= 256 AND (user_id = '' OR app_id <> '' AND role IN ('read', 'write')));
