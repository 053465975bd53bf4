-- +goose Up

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

-- What proposed the facts of a processed turn, and by which version of the app's policy.
ALTER TABLE turns ADD COLUMN scored_by TEXT NOT NULL DEFAULT ''; -- 'rules' or a model; empty: not known
ALTER TABLE turns ADD COLUMN scored_policy INTEGER NOT NULL DEFAULT 0;

-- +goose Down

ALTER TABLE turns DROP COLUMN scored_policy;
ALTER TABLE turns DROP COLUMN scored_by;
DROP TABLE reprocessed_turns;
DROP TABLE reprocessings;
