-- +goose Up

-- A client may ask for the consolidation of a conversation that goes on. SQLite cannot change a
-- CHECK, so the table is written again.
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
    counts          TEXT CHECK (json_valid(counts)),
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
