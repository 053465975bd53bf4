-- The days since 1970-01-01 (UTC) on which a user was active, with an agent, or at all if agent_id is ''.
CREATE TABLE active_days (
    app_id   text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    user_id  text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 256),
    agent_id text COLLATE "C" NOT NULL CHECK (octet_length(agent_id) <= 256),
    day      integer NOT NULL,
    PRIMARY KEY (app_id, user_id, agent_id, day)
);

-- What is known of the time zone of a user: a name that was chosen, and the offset of the last turn that had one.
CREATE TABLE user_zones (
    app_id      text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    user_id     text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 256),
    chosen      text NOT NULL CHECK (octet_length(chosen) <= 64),
    last_offset text NOT NULL CHECK (octet_length(last_offset) <= 6),
    PRIMARY KEY (app_id, user_id)
);

-- How much of memory is on for a user, or for a conversation with its id. It is on without a row.
CREATE TABLE user_modes (
    app_id          text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    user_id         text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 256),
    conversation_id text COLLATE "C" NOT NULL DEFAULT '' CHECK (octet_length(conversation_id) <= 256),
    mode            text COLLATE "C" NOT NULL CHECK (mode IN ('read', 'off')),
    PRIMARY KEY (app_id, user_id, conversation_id)
);

-- What maintenance notes of an owner.
CREATE TABLE user_states (
    app_id        text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    user_id       text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 256),
    reflected_at  timestamptz,
    compressed_at timestamptz,
    PRIMARY KEY (app_id, user_id)
);

-- Users who are being erased or have been: a hash stands for each.
CREATE TABLE erasures (
    owner_hash   bytea PRIMARY KEY CHECK (octet_length(owner_hash) = 32), -- SHA-256 of app and user
    -- The user to whom the rows move, as a hash; null: they are deleted.
    into_hash    bytea CHECK (octet_length(into_hash) = 32),
    round        bigint NOT NULL CHECK (round >= 1), -- how many erasures there have been
    state        text NOT NULL CHECK (state IN ('erasing', 'done')),
    requested_at timestamptz NOT NULL,
    done_at      timestamptz,
    deleted      json NOT NULL, -- counts
    CHECK ((state = 'done') = (done_at IS NOT NULL))
);
CREATE INDEX erasures_into ON erasures (into_hash) WHERE state = 'erasing' AND into_hash IS NOT NULL;

-- The log of recalls.
CREATE TABLE recalls (
    id       uuid PRIMARY KEY,
    app_id   text COLLATE "C" NOT NULL,
    user_id  text COLLATE "C" NOT NULL,
    agent_id text NOT NULL,
    query    text NOT NULL,
    memories json NOT NULL CHECK (json_typeof(memories) = 'array'), -- id and relevance, best first
    degraded text[] NOT NULL,
    took_us  bigint NOT NULL,
    at       timestamptz NOT NULL
);
CREATE INDEX recalls_by_user ON recalls (app_id, user_id, at, id);
CREATE INDEX recalls_by_time ON recalls (at);

-- What became of memories that recalls returned, and of candidates; see memory.Feedback.
CREATE TABLE feedback (
    app_id    text COLLATE "C" NOT NULL,
    user_id   text COLLATE "C" NOT NULL,
    source_id uuid NOT NULL,
    memory_id uuid NOT NULL,
    kind      text NOT NULL CHECK (kind IN ('used', 'irrelevant', 'wrong', 'promoted', 'forgotten')),
    score     double precision NOT NULL, -- 0: not known
    at        timestamptz NOT NULL,
    PRIMARY KEY (app_id, user_id, source_id, memory_id)
);
CREATE INDEX feedback_of_memory ON feedback (app_id, user_id, memory_id);
CREATE INDEX feedback_by_kind ON feedback (app_id, kind, at);

-- How the thresholds of apps have moved; see memory.ThresholdStep.
CREATE TABLE threshold_steps (
    app_id text COLLATE "C" NOT NULL,
    name   text COLLATE "C" NOT NULL,
    number integer NOT NULL CHECK (number > 0),
    was    double precision NOT NULL,
    value  double precision NOT NULL,
    reset  boolean NOT NULL, -- the setting serves again
    lower  integer NOT NULL, -- how many pieces of evidence argued for a lower value
    higher integer NOT NULL,
    at     timestamptz NOT NULL,
    PRIMARY KEY (app_id, name, number)
);
