CREATE TABLE conversations (
    app_id               text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    user_id              text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 256),
    id                   text COLLATE "C" NOT NULL CHECK (octet_length(id) BETWEEN 1 AND 256),
    began                uuid NOT NULL, -- the turn that began it
    title                text NOT NULL,
    turns                bigint NOT NULL CHECK (turns >= 1),
    events               bigint NOT NULL CHECK (events >= 0), -- the number of the last one
    tokens               bigint NOT NULL CHECK (tokens >= 0),
    edition              bigint NOT NULL DEFAULT 0, -- how often what is withheld of its turns has changed
    started_at           timestamptz NOT NULL,
    last_at              timestamptz NOT NULL,
    heard_at             timestamptz NOT NULL, -- when the latest turn was accepted
    ended_at             timestamptz,
    end_reason           text NOT NULL DEFAULT '',
    consolidated_through bigint NOT NULL DEFAULT 0, -- the last event whose statements have become memories, or not
    summarised_through   bigint NOT NULL DEFAULT 0 CHECK (summarised_through BETWEEN 0 AND events),
    summarised_tokens    bigint NOT NULL DEFAULT 0 CHECK (summarised_tokens BETWEEN 0 AND tokens),
    summary              text NOT NULL DEFAULT '',
    PRIMARY KEY (app_id, user_id, id)
);
CREATE INDEX conversations_by_id ON conversations (app_id, id, user_id);
CREATE INDEX conversations_by_time ON conversations (app_id, user_id, last_at, id);
CREATE INDEX conversations_open ON conversations (heard_at) WHERE ended_at IS NULL;
CREATE INDEX conversations_unconsolidated ON conversations (app_id, user_id, id) WHERE consolidated_through < events;

-- The users who take part in conversations, by the names that they have there. The rows outlive the conversation, so
-- that the erasure of a user finds what the user has said in the copies of others.
CREATE TABLE participants (
    app_id          text COLLATE "C" NOT NULL,
    user_id         text COLLATE "C" NOT NULL,
    conversation_id text COLLATE "C" NOT NULL,
    name            text COLLATE "C" NOT NULL CHECK (octet_length(name) <= 256),
    PRIMARY KEY (app_id, conversation_id, user_id, name)
);
CREATE INDEX participants_of_user ON participants (app_id, user_id);

-- What is to be made, and was made, of conversations.
CREATE TABLE consolidation_jobs (
    id              uuid PRIMARY KEY,
    app_id          text COLLATE "C" NOT NULL,
    user_id         text COLLATE "C" NOT NULL,
    conversation_id text COLLATE "C" NOT NULL,
    type            text COLLATE "C" NOT NULL CHECK (type IN ('events', 'fast_replay', 'deep_reflection')),
    cause           text NOT NULL CHECK (cause IN ('important', 'full', 'schedule', 'end', 'idle', 'request')),
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
CREATE UNIQUE INDEX consolidation_jobs_once
    ON consolidation_jobs (app_id, user_id, conversation_id, type, through_event);
CREATE INDEX consolidation_jobs_by_time ON consolidation_jobs (app_id, user_id, conversation_id, created_at, id);
CREATE INDEX consolidation_jobs_due ON consolidation_jobs (created_at, id) WHERE state IN ('pending', 'failed');
