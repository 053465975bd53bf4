-- +goose Up

-- The files of the memory tool.
CREATE TABLE memory_files (
    id         uuid PRIMARY KEY,
    app_id     text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    user_id    text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 256),
    agent_id   text COLLATE "C" NOT NULL CHECK (octet_length(agent_id) <= 256),
    path       text COLLATE "C" NOT NULL CHECK (octet_length(path) BETWEEN 1 AND 1024),
    version    integer NOT NULL CHECK (version > 0), -- the one whose content it has
    bytes      integer NOT NULL CHECK (bytes BETWEEN 0 AND 102400),
    paragraphs json NOT NULL, -- their hashes and memories
    created_at timestamptz NOT NULL,
    changed_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX memory_files_by_path ON memory_files (app_id, user_id, agent_id, path);

-- The contents of the files, of deleted ones also.
CREATE TABLE memory_file_versions (
    id         uuid PRIMARY KEY,
    app_id     text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    user_id    text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 256),
    agent_id   text COLLATE "C" NOT NULL CHECK (octet_length(agent_id) <= 256),
    file_id    uuid NOT NULL, -- outlived by the version where the file is deleted
    path       text COLLATE "C" NOT NULL CHECK (octet_length(path) BETWEEN 1 AND 1024),
    version    integer NOT NULL CHECK (version > 0),
    bytes      integer NOT NULL CHECK (bytes BETWEEN 0 AND 102400),
    content    text NOT NULL,
    written_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX memory_file_versions_by_file ON memory_file_versions (file_id, version);
CREATE INDEX memory_file_versions_by_path ON memory_file_versions (app_id, user_id, agent_id, path, written_at, id);
