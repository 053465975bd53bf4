-- The files of this folder make the schema of a new database, in the order of their names. It is that of version 71,
-- so that a database at version 71 goes on without any change. A later change is a migration with a higher number.
--
-- Ids of clients are compared and ordered by their bytes, as SQLite and Go do. JSON is kept as it came (json, not
-- jsonb): what goes in comes out, and both databases accept the same texts.

CREATE TABLE turns (
    id              uuid PRIMARY KEY,
    app_id          text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    user_id         text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 256),
    client_id       text COLLATE "C" CHECK (octet_length(client_id) BETWEEN 1 AND 256),
    agent_id        text COLLATE "C" NOT NULL CHECK (octet_length(agent_id) <= 256),
    conversation_id text COLLATE "C" NOT NULL CHECK (octet_length(conversation_id) <= 256),
    first_event     bigint NOT NULL DEFAULT 0, -- the numbers of its events in the conversation; 0 without one
    last_event      bigint NOT NULL DEFAULT 0,
    messages        json NOT NULL CHECK (json_typeof(messages) = 'array'),
    metadata        json CHECK (json_typeof(metadata) = 'object'),
    said_at         timestamptz NOT NULL,
    hash            text NOT NULL,
    status          text NOT NULL CHECK (status IN ('accepted', 'processed', 'failed', 'withdrawn')),
    attempts        integer NOT NULL CHECK (attempts >= 0),
    last_error      text NOT NULL,
    accepted_at     timestamptz NOT NULL,
    processed_at    timestamptz,
    withdrawn_at    timestamptz, -- when its client took it back
    queued_at       timestamptz NOT NULL, -- when it was accepted or last replayed
    due_at          timestamptz NOT NULL, -- by when an accepted turn must be renewed or ended
    -- Whether the messages of a processed turn are memories, unless messages are turned off.
    messages_kept   boolean NOT NULL DEFAULT true,
    expires_at      timestamptz, -- from when on its memories are former, as its client chose it
    memory          text COLLATE "C", -- how much of memory was on for it: read or off; null: on
    -- What proposed the facts of a processed turn, and by which version of the app's policy.
    scored_by       text NOT NULL DEFAULT '', -- 'rules' or a model; empty: not known
    scored_policy   integer NOT NULL DEFAULT 0,
    -- Copies of turns in which several people take part; see memory.Share.
    shared_turn     text COLLATE "C", -- id of the copy of the user in whose name the turn was given
    shared_name     text NOT NULL DEFAULT '', -- of the user
    left_out        json, -- how much of the messages is not remembered, and why
    withheld        json, -- parts of the messages that no reader gets, since a statement of them was forgotten
    CHECK (status = 'withdrawn' OR (status = 'processed') = (processed_at IS NOT NULL)),
    CONSTRAINT turns_withdrawn_check CHECK ((status = 'withdrawn') = (withdrawn_at IS NOT NULL)),
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
    id         uuid PRIMARY KEY,
    app_id     text COLLATE "C" NOT NULL,
    user_id    text COLLATE "C" NOT NULL,
    turn_id    uuid NOT NULL REFERENCES turns ON DELETE CASCADE,
    content    text NOT NULL,
    importance double precision NOT NULL,
    domain     text NOT NULL,
    type       text NOT NULL,
    tags       text[], -- of the memory that it becomes
    verdict    text NOT NULL CHECK (verdict IN ('kept', 'below_threshold', 'duplicate', 'merged', 'echo', 'invalid')),
    reason     text NOT NULL,
    scorer     text NOT NULL,
    memory_id  uuid,
    expires_at timestamptz, -- from when on it is former, as the scorer proposed it
    created_at timestamptz NOT NULL,
    CHECK (verdict = 'invalid' OR importance BETWEEN 0 AND 1)
);
CREATE INDEX candidates_by_turn ON candidates (turn_id, created_at, id);
CREATE INDEX candidates_by_app ON candidates (app_id, created_at, id);
CREATE INDEX candidates_by_user ON candidates (app_id, user_id, created_at, id);
CREATE INDEX candidates_by_verdict ON candidates (app_id, verdict, created_at, id);

-- In which turns of a conversation its client gave an id to a message. A turn that was withdrawn keeps its rows.
CREATE TABLE message_ids (
    app_id          text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    user_id         text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 256),
    conversation_id text COLLATE "C" NOT NULL CHECK (octet_length(conversation_id) BETWEEN 1 AND 256),
    id              text COLLATE "C" NOT NULL CHECK (octet_length(id) BETWEEN 1 AND 256),
    turn_id         uuid NOT NULL,
    PRIMARY KEY (app_id, user_id, conversation_id, id, turn_id)
);

-- Runs that score turns again; see memory.Reprocessing.
CREATE TABLE reprocessings (
    id         uuid PRIMARY KEY,
    app_id     text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    user_id    text COLLATE "C" NOT NULL CHECK (octet_length(user_id) <= 256), -- empty: all users of the app
    selection  json NOT NULL, -- of turns
    state      text NOT NULL CHECK (state IN ('running', 'done', 'stopped', 'undoing', 'undone')),
    counts     json NOT NULL,
    place      text NOT NULL, -- the turn that it has come to, as JSON; changes with each step
    note       text NOT NULL, -- why it waits, or has stopped
    created_at timestamptz NOT NULL,
    ended_at   timestamptz
);
CREATE INDEX reprocessings_by_app ON reprocessings (app_id, created_at, id);
CREATE INDEX reprocessings_active ON reprocessings (app_id, user_id) WHERE state IN ('running', 'undoing');
CREATE INDEX reprocessings_by_user ON reprocessings (app_id, user_id);
CREATE INDEX reprocessings_ended ON reprocessings (ended_at) WHERE ended_at IS NOT NULL;

-- What a run has changed of a turn, and what an undo needs.
CREATE TABLE reprocessed_turns (
    reprocessing_id uuid NOT NULL,
    app_id          text COLLATE "C" NOT NULL,
    user_id         text COLLATE "C" NOT NULL,
    said_at         timestamptz NOT NULL,
    turn_id         uuid NOT NULL,
    written         boolean NOT NULL, -- false: what it stated before was taken back, and nothing was written yet
    before          json NOT NULL,
    PRIMARY KEY (reprocessing_id, user_id, said_at, turn_id)
);
CREATE INDEX reprocessed_turns_by_user ON reprocessed_turns (app_id, user_id);
