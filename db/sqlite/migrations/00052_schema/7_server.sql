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
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL DEFAULT '',
    revoked_at INTEGER,
    revoked_by TEXT NOT NULL DEFAULT ''
);
CREATE INDEX api_keys_by_app ON api_keys (app_id, created_at, id);
-- Operators list the keys of all apps.
CREATE INDEX api_keys_by_time ON api_keys (created_at, id);

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

-- The processes that work on jobs. Jobs of a process that died are begun again.
CREATE TABLE processes (
    id      TEXT PRIMARY KEY NOT NULL,
    seen_at INTEGER NOT NULL -- by the clock of the machine, in microseconds since 1970
);
