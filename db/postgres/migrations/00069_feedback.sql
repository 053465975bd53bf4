-- +goose Up

-- What became of memories that recalls returned, and of candidates; see memory.Feedback.
CREATE TABLE feedback (
    app_id    text COLLATE "C" NOT NULL,
    user_id   text COLLATE "C" NOT NULL,
    source_id uuid NOT NULL,
    memory_id uuid NOT NULL,
    kind      text NOT NULL CHECK (kind IN ('used', 'irrelevant', 'wrong', 'promoted', 'forgotten')),
    score     double precision NOT NULL, -- 0: not known
    at        timestamptz NOT NULL,
    PRIMARY KEY (app_id, user_id, source_id, memory_id)
);
CREATE INDEX feedback_of_memory ON feedback (app_id, user_id, memory_id);
CREATE INDEX feedback_by_kind ON feedback (app_id, kind, at);

-- How the thresholds of apps have moved; see memory.ThresholdStep.
CREATE TABLE threshold_steps (
    app_id text COLLATE "C" NOT NULL,
    name   text COLLATE "C" NOT NULL,
    number integer NOT NULL CHECK (number > 0),
    was    double precision NOT NULL,
    value  double precision NOT NULL,
    reset  boolean NOT NULL, -- the setting serves again
    lower  integer NOT NULL, -- how many pieces of evidence argued for a lower value
    higher integer NOT NULL,
    at     timestamptz NOT NULL,
    PRIMARY KEY (app_id, name, number)
);

-- +goose Down

DROP TABLE threshold_steps;
DROP TABLE feedback;
