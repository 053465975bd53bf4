-- +goose Up

CREATE TABLE conversations (
    app_id             TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    user_id            TEXT NOT NULL CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 256),
    id                 TEXT NOT NULL CHECK (length(CAST(id AS BLOB)) BETWEEN 1 AND 256),
    began              TEXT NOT NULL, -- the turn that began it
    title              TEXT NOT NULL,
    summary            TEXT NOT NULL DEFAULT '',
    summarised_through INTEGER NOT NULL DEFAULT 0 CHECK (summarised_through BETWEEN 0 AND events),
    summarised_tokens  INTEGER NOT NULL DEFAULT 0 CHECK (summarised_tokens BETWEEN 0 AND tokens),
    turns              INTEGER NOT NULL CHECK (turns >= 1),
    events             INTEGER NOT NULL CHECK (events >= 0), -- the number of the last one
    tokens             INTEGER NOT NULL CHECK (tokens >= 0),
    started_at         INTEGER NOT NULL,
    last_at            INTEGER NOT NULL,
    heard_at           INTEGER NOT NULL, -- when the latest turn was accepted
    ended_at           INTEGER,
    end_reason         TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (app_id, user_id, id)
);
CREATE INDEX conversations_by_id ON conversations (app_id, id, user_id);
CREATE INDEX conversations_by_time ON conversations (app_id, user_id, last_at, id);
CREATE INDEX conversations_open ON conversations (heard_at) WHERE ended_at IS NULL;

-- The numbers of a turn's events in its conversation; 0 without one.
ALTER TABLE turns ADD COLUMN first_event INTEGER NOT NULL DEFAULT 0;
ALTER TABLE turns ADD COLUMN last_event INTEGER NOT NULL DEFAULT 0;

-- What was said before is numbered as it was accepted, and its tokens are taken
-- to have four bytes each; as that is a guess, they fill no working memory. The
-- conversations have ended: a model is not to read all that was ever said, but
-- the next turn opens one again.
UPDATE turns SET first_event = counted.upto - counted.n + 1, last_event = counted.upto
FROM (SELECT id, json_array_length(messages) AS n,
          sum(json_array_length(messages)) OVER (PARTITION BY app_id, user_id, conversation_id ORDER BY accepted_at, id) AS upto
      FROM turns WHERE conversation_id <> '') AS counted
WHERE counted.id = turns.id;

CREATE INDEX turns_of_conversation ON turns (app_id, user_id, conversation_id, last_event) WHERE last_event > 0;

INSERT INTO conversations (app_id, user_id, id, began, title, turns, events, tokens, summarised_tokens, started_at, last_at, heard_at, ended_at, end_reason)
SELECT app_id, user_id, conversation_id,
    coalesce((SELECT t.id FROM turns AS t WHERE t.app_id = turns.app_id AND t.user_id = turns.user_id
        AND t.conversation_id = turns.conversation_id AND t.last_event > 0 ORDER BY t.last_event LIMIT 1), min(id)),
    '', count(*), max(last_event), sum(length(CAST(messages AS BLOB)) / 4), sum(length(CAST(messages AS BLOB)) / 4),
    min(said_at), max(said_at), max(accepted_at), max(accepted_at), 'idle'
FROM turns WHERE conversation_id <> '' GROUP BY app_id, user_id, conversation_id;
