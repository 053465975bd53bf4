-- +goose Up

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

-- What proposed the facts of a processed turn, and by which version of the app's policy.
ALTER TABLE turns ADD COLUMN scored_by text NOT NULL DEFAULT ''; -- 'rules' or a model; empty: not known
ALTER TABLE turns ADD COLUMN scored_policy integer NOT NULL DEFAULT 0;

-- +goose Down

ALTER TABLE turns DROP COLUMN scored_policy;
ALTER TABLE turns DROP COLUMN scored_by;
DROP TABLE reprocessed_turns;
DROP TABLE reprocessings;
