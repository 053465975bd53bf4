-- +goose Up

-- The files of the memory tool.
CREATE TABLE memory_files (
    id         TEXT PRIMARY KEY NOT NULL,
    app_id     TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    user_id    TEXT NOT NULL CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 256),
    agent_id   TEXT NOT NULL CHECK (length(CAST(agent_id AS BLOB)) <= 256),
    path       TEXT NOT NULL CHECK (length(CAST(path AS BLOB)) BETWEEN 1 AND 1024),
    version    INTEGER NOT NULL CHECK (version > 0), -- the one whose content it has
    bytes      INTEGER NOT NULL CHECK (bytes BETWEEN 0 AND 102400),
    paragraphs TEXT NOT NULL CHECK (json_valid(paragraphs)), -- their hashes and memories
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX memory_files_by_path ON memory_files (app_id, user_id, agent_id, path);

-- The contents of the files, of deleted ones also.
CREATE TABLE memory_file_versions (
    id         TEXT PRIMARY KEY NOT NULL,
    app_id     TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    user_id    TEXT NOT NULL CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 256),
    agent_id   TEXT NOT NULL CHECK (length(CAST(agent_id AS BLOB)) <= 256),
    file_id    TEXT NOT NULL, -- outlived by the version where the file is deleted
    path       TEXT NOT NULL CHECK (length(CAST(path AS BLOB)) BETWEEN 1 AND 1024),
    version    INTEGER NOT NULL CHECK (version > 0),
    bytes      INTEGER NOT NULL CHECK (bytes BETWEEN 0 AND 102400),
    content    TEXT NOT NULL,
    written_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX memory_file_versions_by_file ON memory_file_versions (file_id, version);
CREATE INDEX memory_file_versions_by_path ON memory_file_versions (app_id, user_id, agent_id, path, written_at, id);
