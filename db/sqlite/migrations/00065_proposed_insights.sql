-- +goose Up

-- Insights that wait for an approval; see db.ProposedInsight.
CREATE TABLE proposed_insights (
    app_id      TEXT NOT NULL,
    user_id     TEXT NOT NULL,
    id          TEXT NOT NULL CHECK (length(id) = 36),
    agent_id    TEXT NOT NULL,
    content     TEXT NOT NULL,
    domain      TEXT NOT NULL,
    importance  REAL NOT NULL,
    sources     TEXT NOT NULL CHECK (json_type(sources) = 'array'), -- ids of memories
    retires     TEXT NOT NULL CHECK (json_type(retires) = 'array'), -- some of sources
    proposed_at INTEGER NOT NULL,
    PRIMARY KEY (app_id, id)
) WITHOUT ROWID;
CREATE INDEX proposed_insights_of_user ON proposed_insights (app_id, user_id, id);

-- +goose Down

DROP TABLE proposed_insights;
