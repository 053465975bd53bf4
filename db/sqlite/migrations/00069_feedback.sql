-- +goose Up

-- What became of memories that recalls returned, and of candidates; see memory.Feedback.
CREATE TABLE feedback (
    app_id    TEXT NOT NULL,
    user_id   TEXT NOT NULL,
    source_id TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    kind      TEXT NOT NULL CHECK (kind IN ('used', 'irrelevant', 'wrong', 'promoted', 'forgotten')),
    score     REAL NOT NULL, -- 0: not known
    at        INTEGER NOT NULL,
    PRIMARY KEY (app_id, user_id, source_id, memory_id)
) WITHOUT ROWID;
CREATE INDEX feedback_of_memory ON feedback (app_id, user_id, memory_id);
CREATE INDEX feedback_by_kind ON feedback (app_id, kind, at);

-- How the thresholds of apps have moved; see memory.ThresholdStep.
CREATE TABLE threshold_steps (
    app_id TEXT NOT NULL,
    name   TEXT NOT NULL,
    number INTEGER NOT NULL CHECK (number > 0),
    was    REAL NOT NULL,
    value  REAL NOT NULL,
    reset  INTEGER NOT NULL, -- the setting serves again
    lower  INTEGER NOT NULL, -- how many pieces of evidence argued for a lower value
    higher INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (app_id, name, number)
) WITHOUT ROWID;

-- +goose Down

DROP TABLE threshold_steps;
DROP TABLE feedback;
