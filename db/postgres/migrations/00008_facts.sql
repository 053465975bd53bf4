-- +goose Up

-- What is valid of a user over time, and all evidence for it.
CREATE TABLE facts (
    id          uuid PRIMARY KEY,
    app_id      text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    user_id     text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 256),
    type        text COLLATE "C" NOT NULL CHECK (char_length(type) BETWEEN 1 AND 128),
    key         text COLLATE "C" NOT NULL CHECK (char_length(key) BETWEEN 1 AND 128),
    value       json CHECK (octet_length(value::text) <= 4096),
    confidence  double precision NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    valid_from  timestamptz NOT NULL,
    valid_until timestamptz CHECK (valid_until > valid_from OR state = 'replaced'),
    source      text NOT NULL CHECK (char_length(source) <= 256),
    state       text NOT NULL CHECK (state IN ('accepted', 'confirmed', 'replaced', 'refused', 'ended')),
    reason      text NOT NULL,
    recorded_at timestamptz NOT NULL,
    memory_id   uuid, -- outlived by the fact where it is purged
    told        boolean NOT NULL CHECK (memory_id IS NOT NULL OR NOT told),
    due_at      timestamptz, -- when its memory must begin or end
    CHECK ((state = 'ended') = (value IS NULL))
);
-- On a timeline, at most one fact begins at an instant, one is open, and one has a memory.
CREATE UNIQUE INDEX facts_beginnings ON facts (app_id, user_id, type, key, valid_from) WHERE state = 'accepted';
CREATE UNIQUE INDEX facts_open ON facts (app_id, user_id, type, key) WHERE state = 'accepted' AND valid_until IS NULL;
CREATE UNIQUE INDEX facts_told ON facts (app_id, user_id, type, key) WHERE told;
CREATE INDEX facts_timeline ON facts (app_id, user_id, type, key, valid_from) WHERE state IN ('accepted', 'ended');
CREATE INDEX facts_by_time ON facts (app_id, user_id, valid_from, id) WHERE state = 'accepted';
CREATE INDEX facts_history ON facts (app_id, user_id, type, key, recorded_at, id);
CREATE INDEX facts_due ON facts (due_at, id) WHERE due_at IS NOT NULL;
