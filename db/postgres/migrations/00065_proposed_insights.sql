-- +goose Up

-- Insights that wait for an approval; see db.ProposedInsight.
CREATE TABLE proposed_insights (
    app_id      text COLLATE "C" NOT NULL,
    user_id     text COLLATE "C" NOT NULL,
    id          uuid NOT NULL,
    agent_id    text NOT NULL,
    content     text NOT NULL,
    domain      text NOT NULL,
    importance  double precision NOT NULL,
    sources     uuid[] NOT NULL, -- ids of memories
    retires     uuid[] NOT NULL, -- some of sources
    proposed_at timestamptz NOT NULL,
    PRIMARY KEY (app_id, id)
);
CREATE INDEX proposed_insights_of_user ON proposed_insights (app_id, user_id, id);

-- +goose Down

DROP TABLE proposed_insights;
