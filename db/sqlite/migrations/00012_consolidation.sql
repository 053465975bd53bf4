-- +goose Up

-- What is to be made, and was made, of conversations.
CREATE TABLE consolidation_jobs (
    id              TEXT PRIMARY KEY NOT NULL,
    app_id          TEXT NOT NULL,
    user_id         TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    type            TEXT NOT NULL CHECK (type IN ('events', 'fast_replay', 'deep_reflection')),
    cause           TEXT NOT NULL CHECK (cause IN ('important', 'full', 'schedule', 'end', 'idle')),
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
CREATE UNIQUE INDEX consolidation_jobs_once ON consolidation_jobs (app_id, user_id, conversation_id, type, through_event);
CREATE INDEX consolidation_jobs_by_time ON consolidation_jobs (app_id, user_id, conversation_id, created_at, id);
CREATE INDEX consolidation_jobs_due ON consolidation_jobs (created_at, id) WHERE state IN ('pending', 'failed');

-- The last event up to which the stated events have become memories, or not.
ALTER TABLE conversations ADD COLUMN consolidated_through INTEGER NOT NULL DEFAULT 0;
CREATE INDEX conversations_unconsolidated ON conversations (app_id, user_id, id) WHERE consolidated_through < events;
