-- +goose Up

-- What is to be made, and was made, of conversations.
CREATE TABLE consolidation_jobs (
    id              uuid PRIMARY KEY,
    app_id          text COLLATE "C" NOT NULL,
    user_id         text COLLATE "C" NOT NULL,
    conversation_id text COLLATE "C" NOT NULL,
    type            text COLLATE "C" NOT NULL CHECK (type IN ('events', 'fast_replay', 'deep_reflection')),
    cause           text NOT NULL CHECK (cause IN ('important', 'full', 'schedule', 'end', 'idle')),
    state           text NOT NULL CHECK (state IN ('pending', 'done', 'skipped', 'failed')),
    from_event      bigint NOT NULL CHECK (from_event >= 1),
    through_event   bigint NOT NULL CHECK (through_event >= from_event),
    counts          json,
    error           text NOT NULL,
    attempts        integer NOT NULL CHECK (attempts >= 0),
    created_at      timestamptz NOT NULL,
    started_at      timestamptz,
    ended_at        timestamptz,
    claimed_until   timestamptz,
    FOREIGN KEY (app_id, user_id, conversation_id) REFERENCES conversations (app_id, user_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX consolidation_jobs_once ON consolidation_jobs (app_id, user_id, conversation_id, type, through_event);
CREATE INDEX consolidation_jobs_by_time ON consolidation_jobs (app_id, user_id, conversation_id, created_at, id);
CREATE INDEX consolidation_jobs_due ON consolidation_jobs (created_at, id) WHERE state IN ('pending', 'failed');

-- The last event up to which the stated events have become memories, or not.
ALTER TABLE conversations ADD COLUMN consolidated_through bigint NOT NULL DEFAULT 0;
CREATE INDEX conversations_unconsolidated ON conversations (app_id, user_id, id) WHERE consolidated_through < events;
