-- +goose Up

-- The processes that work on jobs. Jobs of a process that died are begun again.
CREATE TABLE processes (
    id      TEXT PRIMARY KEY NOT NULL,
    seen_at INTEGER NOT NULL -- by the clock of the machine, in microseconds since 1970
);

-- json_valid(NULL) is 0 in some versions of SQLite, whose checks of the file then fail.
-- SQLite cannot change a CHECK, so the tables are written again.
ALTER TABLE facts RENAME TO facts_before;
DROP INDEX facts_beginnings;
DROP INDEX facts_open;
DROP INDEX facts_told;
DROP INDEX facts_timeline;
DROP INDEX facts_by_time;
DROP INDEX facts_history;
DROP INDEX facts_due;
CREATE TABLE facts (
    id          TEXT PRIMARY KEY NOT NULL,
    app_id      TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    user_id     TEXT NOT NULL CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 256),
    type        TEXT NOT NULL CHECK (length(type) BETWEEN 1 AND 128),
    key         TEXT NOT NULL CHECK (length(key) BETWEEN 1 AND 128),
    value       TEXT CHECK (value IS NULL OR json_valid(value) AND length(CAST(value AS BLOB)) <= 4096),
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
INSERT INTO facts SELECT * FROM facts_before;
DROP TABLE facts_before;
-- On a timeline, at most one fact begins at an instant, one is open, and one has a memory.
CREATE UNIQUE INDEX facts_beginnings ON facts (app_id, user_id, type, key, valid_from) WHERE state = 'accepted';
CREATE UNIQUE INDEX facts_open ON facts (app_id, user_id, type, key) WHERE state = 'accepted' AND valid_until IS NULL;
CREATE UNIQUE INDEX facts_told ON facts (app_id, user_id, type, key) WHERE told;
CREATE INDEX facts_timeline ON facts (app_id, user_id, type, key, valid_from) WHERE state IN ('accepted', 'ended');
CREATE INDEX facts_by_time ON facts (app_id, user_id, valid_from, id) WHERE state = 'accepted';
CREATE INDEX facts_history ON facts (app_id, user_id, type, key, recorded_at, id);
CREATE INDEX facts_due ON facts (due_at, id) WHERE due_at IS NOT NULL;

ALTER TABLE consolidation_jobs RENAME TO consolidation_jobs_before;
DROP INDEX consolidation_jobs_once;
DROP INDEX consolidation_jobs_by_time;
DROP INDEX consolidation_jobs_due;
CREATE TABLE consolidation_jobs (
    id              TEXT PRIMARY KEY NOT NULL,
    app_id          TEXT NOT NULL,
    user_id         TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    type            TEXT NOT NULL CHECK (type IN ('events', 'fast_replay', 'deep_reflection')),
    cause           TEXT NOT NULL CHECK (cause IN ('important', 'full', 'schedule', 'end', 'idle', 'request')),
    state           TEXT NOT NULL CHECK (state IN ('pending', 'done', 'skipped', 'failed')),
    from_event      INTEGER NOT NULL CHECK (from_event >= 1),
    through_event   INTEGER NOT NULL CHECK (through_event >= from_event),
    counts          TEXT CHECK (counts IS NULL OR json_valid(counts)),
    error           TEXT NOT NULL,
    attempts        INTEGER NOT NULL CHECK (attempts >= 0),
    created_at      INTEGER NOT NULL,
    started_at      INTEGER,
    ended_at        INTEGER,
    claimed_until   INTEGER,
    FOREIGN KEY (app_id, user_id, conversation_id) REFERENCES conversations (app_id, user_id, id) ON DELETE CASCADE
);
INSERT INTO consolidation_jobs SELECT * FROM consolidation_jobs_before;
DROP TABLE consolidation_jobs_before;
CREATE UNIQUE INDEX consolidation_jobs_once ON consolidation_jobs (app_id, user_id, conversation_id, type, through_event);
CREATE INDEX consolidation_jobs_by_time ON consolidation_jobs (app_id, user_id, conversation_id, created_at, id);
CREATE INDEX consolidation_jobs_due ON consolidation_jobs (created_at, id) WHERE state IN ('pending', 'failed');
