-- The files of this folder make the schema of a new database, in the order of their names. It is that of version 71,
-- so that a database at version 71 goes on without any change. A later change is a migration with a higher number.
--
-- Times are whole microseconds since 1970 (UTC), ids are UUIDs as text, JSON is text as it came. Wide columns come
-- last: a scan of the narrow ones before them does not walk their overflow pages. A CHECK with json_valid excepts null
-- where a column may be null, since json_valid(NULL) is 0 in some versions of SQLite.

CREATE TABLE turns (
    id              TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
    app_id          TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    user_id         TEXT NOT NULL CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 256),
    client_id       TEXT CHECK (length(CAST(client_id AS BLOB)) BETWEEN 1 AND 256),
    agent_id        TEXT NOT NULL CHECK (length(CAST(agent_id AS BLOB)) <= 256),
    conversation_id TEXT NOT NULL CHECK (length(CAST(conversation_id AS BLOB)) <= 256),
    first_event     INTEGER NOT NULL DEFAULT 0, -- the numbers of its events in the conversation; 0 without one
    last_event      INTEGER NOT NULL DEFAULT 0,
    said_at         INTEGER NOT NULL,
    hash            TEXT NOT NULL,
    status          TEXT NOT NULL CHECK (status IN ('accepted', 'processed', 'failed', 'withdrawn')),
    attempts        INTEGER NOT NULL CHECK (attempts >= 0),
    last_error      TEXT NOT NULL,
    accepted_at     INTEGER NOT NULL,
    processed_at    INTEGER,
    withdrawn_at    INTEGER CHECK ((status = 'withdrawn') = (withdrawn_at IS NOT NULL)), -- when its client took it back
    queued_at       INTEGER NOT NULL, -- when it was accepted or last replayed
    due_at          INTEGER NOT NULL, -- by when an accepted turn must be renewed or ended
    -- Whether the messages of a processed turn are memories, unless messages are turned off.
    messages_kept   INTEGER NOT NULL DEFAULT 1,
    expires_at      INTEGER, -- from when on its memories are former, as its client chose it
    memory          TEXT, -- how much of memory was on for it: read or off; null: on
    -- What proposed the facts of a processed turn, and by which version of the app's policy.
    scored_by       TEXT NOT NULL DEFAULT '', -- 'rules' or a model; empty: not known
    scored_policy   INTEGER NOT NULL DEFAULT 0,
    -- Copies of turns in which several people take part; see memory.Share.
    shared_turn     TEXT, -- id of the copy of the user in whose name the turn was given
    shared_name     TEXT NOT NULL DEFAULT '', -- of the user
    left_out        TEXT, -- how much of the messages is not remembered, and why
    withheld        TEXT, -- parts of the messages that no reader gets, since a statement of them was forgotten
    metadata        TEXT CHECK (json_type(metadata) = 'object'),
    messages        TEXT NOT NULL CHECK (json_type(messages) = 'array'),
    CHECK (status = 'withdrawn' OR (status = 'processed') = (processed_at IS NOT NULL)),
    UNIQUE (app_id, client_id)
);
CREATE INDEX turns_by_app ON turns (app_id, accepted_at, id);
CREATE INDEX turns_by_status ON turns (app_id, status, accepted_at, id);
CREATE INDEX turns_by_user ON turns (app_id, user_id, accepted_at, id);
CREATE INDEX turns_of_conversation ON turns (app_id, user_id, conversation_id, last_event) WHERE last_event > 0;
CREATE INDEX turns_due ON turns (due_at) WHERE status = 'accepted';
-- A job takes in the messages of these.
CREATE INDEX turns_without_messages ON turns (id) WHERE NOT messages_kept AND status = 'processed';
CREATE INDEX turns_shared ON turns (app_id, shared_turn) WHERE shared_turn IS NOT NULL;

CREATE TABLE candidates (
    id         TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
    app_id     TEXT NOT NULL,
    user_id    TEXT NOT NULL DEFAULT '',
    turn_id    TEXT NOT NULL REFERENCES turns ON DELETE CASCADE,
    content    TEXT NOT NULL,
    importance REAL NOT NULL,
    domain     TEXT NOT NULL,
    type       TEXT NOT NULL,
    tags       TEXT, -- of the memory that it becomes
    verdict    TEXT NOT NULL CHECK (verdict IN ('kept', 'below_threshold', 'duplicate', 'merged', 'echo', 'invalid')),
    reason     TEXT NOT NULL,
    scorer     TEXT NOT NULL,
    memory_id  TEXT,
    expires_at INTEGER, -- from when on it is former, as the scorer proposed it
    created_at INTEGER NOT NULL,
    CHECK (verdict = 'invalid' OR importance BETWEEN 0 AND 1)
);
CREATE INDEX candidates_by_turn ON candidates (turn_id, created_at, id);
CREATE INDEX candidates_by_app ON candidates (app_id, created_at, id);
CREATE INDEX candidates_by_user ON candidates (app_id, user_id, created_at, id);
CREATE INDEX candidates_by_verdict ON candidates (app_id, verdict, created_at, id);

-- In which turns of a conversation its client gave an id to a message. A turn that was withdrawn keeps its rows.
CREATE TABLE message_ids (
    app_id          TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    user_id         TEXT NOT NULL CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 256),
    conversation_id TEXT NOT NULL CHECK (length(CAST(conversation_id AS BLOB)) BETWEEN 1 AND 256),
    id              TEXT NOT NULL CHECK (length(CAST(id AS BLOB)) BETWEEN 1 AND 256),
    turn_id         TEXT NOT NULL,
    PRIMARY KEY (app_id, user_id, conversation_id, id, turn_id)
) WITHOUT ROWID;

-- Runs that score turns again; see memory.Reprocessing.
CREATE TABLE reprocessings (
    id         TEXT PRIMARY KEY,
    app_id     TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    user_id    TEXT NOT NULL CHECK (length(CAST(user_id AS BLOB)) <= 256), -- empty: all users of the app
    selection  TEXT NOT NULL, -- of turns
    state      TEXT NOT NULL CHECK (state IN ('running', 'done', 'stopped', 'undoing', 'undone')),
    counts     TEXT NOT NULL,
    place      TEXT NOT NULL, -- the turn that it has come to, as JSON; changes with each step
    note       TEXT NOT NULL, -- why it waits, or has stopped
    created_at INTEGER NOT NULL,
    ended_at   INTEGER
) WITHOUT ROWID;
CREATE INDEX reprocessings_by_app ON reprocessings (app_id, created_at, id);
CREATE INDEX reprocessings_active ON reprocessings (app_id, user_id) WHERE state IN ('running', 'undoing');
CREATE INDEX reprocessings_by_user ON reprocessings (app_id, user_id);
CREATE INDEX reprocessings_ended ON reprocessings (ended_at) WHERE ended_at IS NOT NULL;

-- What a run has changed of a turn, and what an undo needs.
CREATE TABLE reprocessed_turns (
    reprocessing_id TEXT NOT NULL,
    app_id          TEXT NOT NULL,
    user_id         TEXT NOT NULL,
    said_at         INTEGER NOT NULL,
    turn_id         TEXT NOT NULL,
    written         INTEGER NOT NULL, -- false: what it stated before was taken back, and nothing was written yet
    before          TEXT NOT NULL,
    PRIMARY KEY (reprocessing_id, user_id, said_at, turn_id)
) WITHOUT ROWID;
CREATE INDEX reprocessed_turns_by_user ON reprocessed_turns (app_id, user_id);
