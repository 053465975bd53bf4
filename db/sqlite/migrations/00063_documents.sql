-- +goose Up

-- Texts and pages that apps gave for users; see memory.SourceDocument. Their passages are memories.
CREATE TABLE documents (
    id           TEXT PRIMARY KEY NOT NULL,
    app_id       TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    user_id      TEXT NOT NULL CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 256),
    agent_id     TEXT NOT NULL CHECK (length(CAST(agent_id AS BLOB)) <= 256),
    ref          TEXT NOT NULL CHECK (length(CAST(ref AS BLOB)) BETWEEN 1 AND 2200), -- id:..., url:... or hash:...
    client_id    TEXT NOT NULL,
    title        TEXT NOT NULL,
    url          TEXT NOT NULL,
    content_type TEXT NOT NULL,
    version      INTEGER NOT NULL CHECK (version > 0),
    hash         TEXT NOT NULL, -- SHA-256 of what the version holds
    tags         TEXT NOT NULL CHECK (json_valid(tags)),
    metadata     TEXT CHECK (json_type(metadata) = 'object'),
    passages     TEXT NOT NULL CHECK (json_valid(passages)), -- their memories and hashes, in the order of the text
    at           INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    changed_at   INTEGER NOT NULL,
    forgotten_at INTEGER
);
CREATE UNIQUE INDEX documents_by_ref ON documents (app_id, user_id, agent_id, ref);
CREATE INDEX documents_by_time ON documents (app_id, user_id, created_at, id);
CREATE INDEX documents_forgotten ON documents (forgotten_at) WHERE forgotten_at IS NOT NULL;

-- +goose Down

DROP TABLE documents;
