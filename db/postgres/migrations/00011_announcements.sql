-- +goose Up

-- What webhooks and event streams receive, in the order of commits: (xact, seq). A
-- reader takes rows of transactions that are older than all transactions under way.
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
