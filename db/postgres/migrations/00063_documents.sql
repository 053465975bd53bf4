-- +goose Up

-- Texts and pages that apps gave for users; see memory.SourceDocument. Their passages are memories.
CREATE TABLE documents (
    id           uuid PRIMARY KEY,
    app_id       text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    user_id      text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 256),
    agent_id     text COLLATE "C" NOT NULL CHECK (octet_length(agent_id) <= 256),
    ref          text COLLATE "C" NOT NULL CHECK (octet_length(ref) BETWEEN 1 AND 2200), -- id:..., url:... or hash:...
    client_id    text NOT NULL,
    title        text NOT NULL,
    url          text NOT NULL,
    content_type text NOT NULL,
    version      integer NOT NULL CHECK (version > 0),
    hash         text NOT NULL, -- SHA-256 of what the version holds
    tags         json NOT NULL,
    metadata     json CHECK (json_typeof(metadata) = 'object'),
    passages     json NOT NULL, -- their memories and hashes, in the order of the text
    at           timestamptz NOT NULL,
    created_at   timestamptz NOT NULL,
    changed_at   timestamptz NOT NULL,
    forgotten_at timestamptz
);
CREATE UNIQUE INDEX documents_by_ref ON documents (app_id, user_id, agent_id, ref);
CREATE INDEX documents_by_time ON documents (app_id, user_id, created_at, id);
CREATE INDEX documents_forgotten ON documents (forgotten_at) WHERE forgotten_at IS NOT NULL;

-- +goose Down

DROP TABLE documents;
