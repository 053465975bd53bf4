-- The days since 1970-01-01 (UTC) on which a user was active, with an agent, or at all if agent_id is ''.
CREATE TABLE active_days (
    app_id   TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    user_id  TEXT NOT NULL CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 256),
    agent_id TEXT NOT NULL CHECK (length(CAST(agent_id AS BLOB)) <= 256),
    day      INTEGER NOT NULL,
    PRIMARY KEY (app_id, user_id, agent_id, day)
) WITHOUT ROWID;

-- What is known of the time zone of a user: a name that was chosen, and the offset of the last turn that had one.
CREATE TABLE user_zones (
    app_id      TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    user_id     TEXT NOT NULL CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 256),
    chosen      TEXT NOT NULL CHECK (length(CAST(chosen AS BLOB)) <= 64),
    last_offset TEXT NOT NULL CHECK (length(CAST(last_offset AS BLOB)) <= 6),
    PRIMARY KEY (app_id, user_id)
) WITHOUT ROWID;

-- How much of memory is on for a user, or for a conversation with its id. It is on without a row.
CREATE TABLE user_modes (
    app_id          TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    user_id         TEXT NOT NULL CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 256),
    conversation_id TEXT NOT NULL CHECK (length(CAST(conversation_id AS BLOB)) <= 256),
    mode            TEXT NOT NULL CHECK (mode IN ('read', 'off')),
    PRIMARY KEY (app_id, user_id, conversation_id)
) WITHOUT ROWID;

-- What maintenance notes of an owner.
CREATE TABLE user_states (
    app_id        TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    user_id       TEXT NOT NULL CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 256),
    reflected_at  INTEGER,
    compressed_at INTEGER,
    PRIMARY KEY (app_id, user_id)
);

-- Users who are being erased or have been: a hash stands for each.
CREATE TABLE erasures (
    owner_hash   BLOB PRIMARY KEY NOT NULL CHECK (length(owner_hash) = 32), -- SHA-256 of app and user
    -- The user to whom the rows move, as a hash; null: they are deleted.
    into_hash    BLOB CHECK (into_hash IS NULL OR length(into_hash) = 32),
    round        INTEGER NOT NULL CHECK (round >= 1), -- how many erasures there have been
    state        TEXT NOT NULL CHECK (state IN ('erasing', 'done')),
    requested_at INTEGER NOT NULL,
    done_at      INTEGER,
    deleted      TEXT NOT NULL CHECK (json_type(deleted) = 'object'), -- counts
    CHECK ((state = 'done') = (done_at IS NOT NULL))
);
CREATE INDEX erasures_into ON erasures (into_hash) WHERE state = 'erasing' AND into_hash IS NOT NULL;

-- The log of recalls.
CREATE TABLE recalls (
    id       TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
    app_id   TEXT NOT NULL,
    user_id  TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    query    TEXT NOT NULL,
    memories TEXT NOT NULL CHECK (json_type(memories) = 'array'), -- id and relevance, best first
    degraded TEXT NOT NULL CHECK (json_type(degraded) = 'array'),
    took_us  INTEGER NOT NULL,
    at       INTEGER NOT NULL
);
CREATE INDEX recalls_by_user ON recalls (app_id, user_id, at, id);
CREATE INDEX recalls_by_time ON recalls (at);

-- What became of memories that recalls returned, and of candidates; see memory.Feedback.
CREATE TABLE feedback (
    app_id    TEXT NOT NULL,
    user_id   TEXT NOT NULL,
    source_id TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    kind      TEXT NOT NULL CHECK (kind IN ('used', 'irrelevant', 'wrong', 'promoted', 'forgotten')),
    score     REAL NOT NULL, -- 0: not known
    at        INTEGER NOT NULL,
    PRIMARY KEY (app_id, user_id, source_id, memory_id)
) WITHOUT ROWID;
CREATE INDEX feedback_of_memory ON feedback (app_id, user_id, memory_id);
CREATE INDEX feedback_by_kind ON feedback (app_id, kind, at);

-- How the thresholds of apps have moved; see memory.ThresholdStep.
CREATE TABLE threshold_steps (
    app_id TEXT NOT NULL,
    name   TEXT NOT NULL,
    number INTEGER NOT NULL CHECK (number > 0),
    was    REAL NOT NULL,
    value  REAL NOT NULL,
    reset  INTEGER NOT NULL, -- the setting serves again
    lower  INTEGER NOT NULL, -- how many pieces of evidence argued for a lower value
    higher INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (app_id, name, number)
) WITHOUT ROWID;
