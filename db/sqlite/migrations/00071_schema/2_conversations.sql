CREATE TABLE conversations (
    app_id               TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    user_id              TEXT NOT NULL CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 256),
    id                   TEXT NOT NULL CHECK (length(CAST(id AS BLOB)) BETWEEN 1 AND 256),
    began                TEXT NOT NULL, -- the turn that began it
    title                TEXT NOT NULL,
    turns                INTEGER NOT NULL CHECK (turns >= 1),
    events               INTEGER NOT NULL CHECK (events >= 0), -- the number of the last one
    tokens               INTEGER NOT NULL CHECK (tokens >= 0),
    edition              INTEGER NOT NULL DEFAULT 0, -- how often what is withheld of its turns has changed
    started_at           INTEGER NOT NULL,
    last_at              INTEGER NOT NULL,
    heard_at             INTEGER NOT NULL, -- when the latest turn was accepted
    ended_at             INTEGER,
    end_reason           TEXT NOT NULL DEFAULT '',
    consolidated_through INTEGER NOT NULL DEFAULT 0, -- the last event whose statements have become memories, or not
    summarised_through   INTEGER NOT NULL DEFAULT 0 CHECK (summarised_through BETWEEN 0 AND events),
    summarised_tokens    INTEGER NOT NULL DEFAULT 0 CHECK (summarised_tokens BETWEEN 0 AND tokens),
    summary              TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (app_id, user_id, id)
);
CREATE INDEX conversations_by_id ON conversations (app_id, id, user_id);
CREATE INDEX conversations_by_time ON conversations (app_id, user_id, last_at, id);
CREATE INDEX conversations_open ON conversations (heard_at) WHERE ended_at IS NULL;
CREATE INDEX conversations_unconsolidated ON conversations (app_id, user_id, id) WHERE consolidated_through < events;

-- The users who take part in conversations, by the names that they have there. The rows outlive the conversation, so
-- that the erasure of a user finds what the user has said in the copies of others.
CREATE TABLE participants (
    app_id          TEXT NOT NULL,
    user_id         TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    name            TEXT NOT NULL CHECK (length(CAST(name AS BLOB)) <= 256),
    PRIMARY KEY (app_id, conversation_id, user_id, name)
) WITHOUT ROWID;
CREATE INDEX participants_of_user ON participants (app_id, user_id);

-- What is to be made, and was made, of conversations.
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
CREATE UNIQUE INDEX consolidation_jobs_once
    ON consolidation_jobs (app_id, user_id, conversation_id, type, through_event);
CREATE INDEX consolidation_jobs_by_time ON consolidation_jobs (app_id, user_id, conversation_id, created_at, id);
CREATE INDEX consolidation_jobs_due ON consolidation_jobs (created_at, id) WHERE state IN ('pending', 'failed');
