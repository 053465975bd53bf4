-- +goose Up

-- The log of recalls.
CREATE TABLE recalls (
    id       TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
    app_id   TEXT NOT NULL,
    user_id  TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    query    TEXT NOT NULL,
    memories TEXT NOT NULL CHECK (json_type(memories) = 'array'), -- id and relevance, best first
    degraded TEXT NOT NULL CHECK (json_type(degraded) = 'array'),
    took_us  INTEGER NOT NULL,
    at       INTEGER NOT NULL
);
CREATE INDEX recalls_by_user ON recalls (app_id, user_id, at, id);
CREATE INDEX recalls_by_time ON recalls (at);
