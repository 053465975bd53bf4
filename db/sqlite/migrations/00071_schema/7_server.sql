-- A key of the role operator works on the whole server and may belong to no app. A key may be bound to one user, and
-- then reads and writes what belongs to that user alone. It names the key by which it was created, and the one by which
-- it was revoked; empty: a command did it.
CREATE TABLE api_keys (
    id         TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
    hash       TEXT NOT NULL UNIQUE,
    name       TEXT NOT NULL,
    app_id     TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) <= 256 AND (app_id <> '' OR role = 'operator')),
    user_id    TEXT NOT NULL DEFAULT '' CHECK (
        length(CAST(user_id AS BLOB)) <= 256 AND (user_id = '' OR app_id <> '' AND role IN ('read', 'write'))),
    role       TEXT NOT NULL CHECK (role IN ('read', 'write', 'admin', 'operator')),
    -- How much of memory is on for its requests; empty: it is on.
    memory     TEXT NOT NULL DEFAULT '' CHECK (memory IN ('', 'read', 'off')),
    -- What it may do with the pool of its app; empty: see memory.Key.
    pool       TEXT NOT NULL DEFAULT '' CHECK (pool IN ('', 'none', 'read', 'write')),
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL DEFAULT '',
    revoked_at INTEGER,
    revoked_by TEXT NOT NULL DEFAULT ''
);
CREATE INDEX api_keys_by_app ON api_keys (app_id, created_at, id);
-- Operators list the keys of all apps.
CREATE INDEX api_keys_by_time ON api_keys (created_at, id);

-- What each app remembers, in versions; see memory.Policy. The newest version serves.
CREATE TABLE policies (
    app_id       TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    version      INTEGER NOT NULL CHECK (version > 0),
    policy       TEXT NOT NULL CHECK (json_type(policy) = 'object'),
    note         TEXT NOT NULL,
    published_at INTEGER NOT NULL,
    published_by TEXT NOT NULL, -- id of a key
    PRIMARY KEY (app_id, version)
) WITHOUT ROWID;

-- How many tokens the models have used for an app on a day; see memory.TokenDay.
CREATE TABLE token_days (
    app_id TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    day    INTEGER NOT NULL,
    kind   TEXT NOT NULL CHECK (kind IN ('chat', 'embedding')),
    tokens INTEGER NOT NULL CHECK (tokens >= 0),
    PRIMARY KEY (app_id, day, kind)
) WITHOUT ROWID;

-- What webhooks and event streams receive. There is one writer at a time, so that seq has the order of commits. The
-- numbers of deleted rows are not used again.
CREATE TABLE announcements (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    app_id  TEXT NOT NULL,
    user_id TEXT NOT NULL,
    kind    TEXT NOT NULL CHECK (kind IN (
        'memory.written', 'memory.forgotten', 'reflection.created', 'conversation.ended', 'turn.failed')),
    at      INTEGER NOT NULL,
    data    TEXT NOT NULL CHECK (json_type(data) = 'object')
);
CREATE INDEX announcements_by_app ON announcements (app_id, seq);
CREATE INDEX announcements_by_user ON announcements (app_id, user_id, seq);

-- Up to where announcements may have been purged, in one row.
CREATE TABLE announcements_purged (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    seq INTEGER NOT NULL
);
INSERT INTO announcements_purged (one, seq) VALUES (1, 0);

CREATE TABLE webhooks (
    id            TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
    app_id        TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    url           TEXT NOT NULL CHECK (length(CAST(url AS BLOB)) BETWEEN 1 AND 2048),
    secret        TEXT NOT NULL CHECK (length(CAST(secret AS BLOB)) BETWEEN 16 AND 256), -- as it is: it signs
    kinds         TEXT NOT NULL, -- none: all
    active        INTEGER NOT NULL CHECK (active IN (0, 1)),
    activation    INTEGER NOT NULL CHECK (activation >= 0),
    after_seq     INTEGER NOT NULL, -- deliveries have been enqueued up to here
    failing_since INTEGER,
    last_error    TEXT NOT NULL DEFAULT '',
    retry_at      INTEGER,
    disabled_at   INTEGER CHECK (disabled_at IS NULL OR active = 0),
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL
);
CREATE INDEX webhooks_by_app ON webhooks (app_id, created_at, id);

-- The fields of a chat request that a model of an endpoint refuses; see memory.RefusedField.
CREATE TABLE refused_fields (
    endpoint TEXT NOT NULL,
    model    TEXT NOT NULL,
    field    TEXT NOT NULL,
    PRIMARY KEY (endpoint, model, field)
) WITHOUT ROWID;

-- The processes that work on jobs. Jobs of a process that died are begun again.
CREATE TABLE processes (
    id      TEXT PRIMARY KEY NOT NULL,
    seen_at INTEGER NOT NULL -- by the clock of the machine, in microseconds since 1970
);
