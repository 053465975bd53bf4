-- +goose Up

-- What is valid of a user over time, and all evidence for it.
CREATE TABLE facts (
    id          TEXT PRIMARY KEY NOT NULL,
    app_id      TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    user_id     TEXT NOT NULL CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 256),
    type        TEXT NOT NULL CHECK (length(type) BETWEEN 1 AND 128),
    key         TEXT NOT NULL CHECK (length(key) BETWEEN 1 AND 128),
    value       TEXT CHECK (json_valid(value) AND length(CAST(value AS BLOB)) <= 4096),
    confidence  REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    valid_from  INTEGER NOT NULL,
    valid_until INTEGER CHECK (valid_until > valid_from OR state = 'replaced'),
    source      TEXT NOT NULL CHECK (length(source) <= 256),
    state       TEXT NOT NULL CHECK (state IN ('accepted', 'confirmed', 'replaced', 'refused', 'ended')),
    reason      TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    memory_id   TEXT, -- outlived by the fact where it is purged
    told        INTEGER NOT NULL CHECK (told IN (0, 1) AND (memory_id IS NOT NULL OR NOT told)),
    due_at      INTEGER, -- when its memory must begin or end
    CHECK ((state = 'ended') = (value IS NULL))
);
-- On a timeline, at most one fact begins at an instant, one is open, and one has a memory.
CREATE UNIQUE INDEX facts_beginnings ON facts (app_id, user_id, type, key, valid_from) WHERE state = 'accepted';
CREATE UNIQUE INDEX facts_open ON facts (app_id, user_id, type, key) WHERE state = 'accepted' AND valid_until IS NULL;
CREATE UNIQUE INDEX facts_told ON facts (app_id, user_id, type, key) WHERE told;
CREATE INDEX facts_timeline ON facts (app_id, user_id, type, key, valid_from) WHERE state IN ('accepted', 'ended');
CREATE INDEX facts_by_time ON facts (app_id, user_id, valid_from, id) WHERE state = 'accepted';
CREATE INDEX facts_history ON facts (app_id, user_id, type, key, recorded_at, id);
CREATE INDEX facts_due ON facts (due_at, id) WHERE due_at IS NOT NULL;
