-- +goose Up

-- The log of recalls.
CREATE TABLE recalls (
    id       uuid PRIMARY KEY,
    app_id   text COLLATE "C" NOT NULL,
    user_id  text COLLATE "C" NOT NULL,
    agent_id text NOT NULL,
    query    text NOT NULL,
    memories json NOT NULL CHECK (json_typeof(memories) = 'array'), -- id and relevance, best first
    degraded text[] NOT NULL,
    took_us  bigint NOT NULL,
    at       timestamptz NOT NULL
);
CREATE INDEX recalls_by_user ON recalls (app_id, user_id, at, id);
CREATE INDEX recalls_by_time ON recalls (at);
