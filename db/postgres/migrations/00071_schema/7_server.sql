-- A key of the role operator works on the whole server and may belong to no app. A key may be bound to one user, and
-- then reads and writes what belongs to that user alone. It names the key by which it was created, and the one by which
-- it was revoked; empty: a command did it.
CREATE TABLE api_keys (
    id         uuid PRIMARY KEY,
    hash       text NOT NULL UNIQUE,
    name       text NOT NULL,
    app_id     text COLLATE "C" NOT NULL,
    user_id    text COLLATE "C" NOT NULL DEFAULT '',
    role       text NOT NULL CHECK (role IN ('read', 'write', 'admin', 'operator')),
    -- How much of memory is on for its requests; empty: it is on.
    memory     text NOT NULL DEFAULT '' CHECK (memory IN ('', 'read', 'off')),
    -- What it may do with the pool of its app; empty: see memory.Key.
    pool       text NOT NULL DEFAULT '' CHECK (pool IN ('', 'none', 'read', 'write')),
    created_at timestamptz NOT NULL,
    created_by text NOT NULL DEFAULT '',
    revoked_at timestamptz,
    revoked_by text NOT NULL DEFAULT '',
    CONSTRAINT api_keys_app_id_check CHECK (octet_length(app_id) <= 256 AND (app_id <> '' OR role = 'operator')),
    CONSTRAINT api_keys_check CHECK (
        octet_length(user_id) <= 256 AND (user_id = '' OR app_id <> '' AND role IN ('read', 'write')))
);
CREATE INDEX api_keys_by_app ON api_keys (app_id, created_at, id);
-- Operators list the keys of all apps.
CREATE INDEX api_keys_by_time ON api_keys (created_at, id);

-- What each app remembers, in versions; see memory.Policy. The newest version serves.
CREATE TABLE policies (
    app_id       text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    version      integer NOT NULL CHECK (version > 0),
    policy       json NOT NULL CHECK (json_typeof(policy) = 'object'),
    note         text NOT NULL,
    published_at timestamptz NOT NULL,
    published_by text NOT NULL, -- id of a key
    PRIMARY KEY (app_id, version)
);

-- How many tokens the models have used for an app on a day; see memory.TokenDay.
CREATE TABLE token_days (
    app_id text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    day    integer NOT NULL,
    kind   text COLLATE "C" NOT NULL CHECK (kind IN ('chat', 'embedding')),
    tokens bigint NOT NULL CHECK (tokens >= 0),
    PRIMARY KEY (app_id, day, kind)
);

-- What webhooks and event streams receive, in the order of commits: (xact, seq). A reader takes rows of transactions
-- that are older than all transactions under way.
CREATE TABLE announcements (
    xact    bigint NOT NULL DEFAULT pg_current_xact_id()::text::bigint,
    seq     bigint GENERATED ALWAYS AS IDENTITY,
    app_id  text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    kind    text NOT NULL CHECK (kind IN (
        'memory.written', 'memory.forgotten', 'reflection.created', 'conversation.ended', 'turn.failed')),
    at      timestamptz NOT NULL,
    data    json NOT NULL CHECK (json_typeof(data) = 'object'),
    PRIMARY KEY (xact, seq)
);
CREATE INDEX announcements_by_app ON announcements (app_id, xact, seq);
CREATE INDEX announcements_by_user ON announcements (app_id, user_id, xact, seq);

-- Up to where announcements may have been purged, in one row.
CREATE TABLE announcements_purged (
    one  boolean PRIMARY KEY DEFAULT true CHECK (one),
    xact bigint NOT NULL,
    seq  bigint NOT NULL
);
INSERT INTO announcements_purged (xact, seq) VALUES (0, 0);

CREATE TABLE webhooks (
    id            uuid PRIMARY KEY,
    app_id        text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    url           text NOT NULL CHECK (octet_length(url) BETWEEN 1 AND 2048),
    secret        text NOT NULL CHECK (octet_length(secret) BETWEEN 16 AND 256), -- as it is: it signs
    kinds         text[] NOT NULL, -- none: all
    active        boolean NOT NULL,
    activation    integer NOT NULL CHECK (activation >= 0),
    after_xact    bigint NOT NULL, -- deliveries have been enqueued up to here
    after_seq     bigint NOT NULL,
    failing_since timestamptz,
    last_error    text NOT NULL DEFAULT '',
    retry_at      timestamptz,
    disabled_at   timestamptz CHECK (disabled_at IS NULL OR NOT active),
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL
);
CREATE INDEX webhooks_by_app ON webhooks (app_id, created_at, id);

-- The fields of a chat request that a model of an endpoint refuses; see memory.RefusedField.
CREATE TABLE refused_fields (
    endpoint text COLLATE "C" NOT NULL,
    model    text COLLATE "C" NOT NULL,
    field    text COLLATE "C" NOT NULL,
    PRIMARY KEY (endpoint, model, field)
);

-- The processes that work on jobs. Jobs of a process that died are begun again.
CREATE TABLE processes (
    id      text PRIMARY KEY,
    seen_at timestamptz NOT NULL -- by the clock of the database
);
