-- +goose Up

-- The days since 1970-01-01 (UTC) on which a user was active, with an agent, or at all if agent_id is ''.
CREATE TABLE active_days (
    app_id   text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    user_id  text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 256),
    agent_id text COLLATE "C" NOT NULL CHECK (octet_length(agent_id) <= 256),
    day      integer NOT NULL,
    PRIMARY KEY (app_id, user_id, agent_id, day)
);

-- What is known of the days before: turns, writes and accesses. What maintenance writes is no activity.
INSERT INTO active_days
    SELECT DISTINCT app_id, user_id, unnest(ARRAY['', agent_id]), floor(extract(epoch FROM at) / 86400)::integer FROM (
        SELECT app_id, user_id, agent_id, accepted_at AS at FROM turns
        UNION ALL SELECT app_id, user_id, agent_id, updated_at FROM agent_memories
            WHERE status = 'active' AND memory_type NOT IN ('reflection', 'summary')
        UNION ALL SELECT app_id, user_id, agent_id, last_accessed_at FROM agent_memories
            WHERE status = 'active' AND access_count > 0) AS known;

-- +goose Down

DROP TABLE active_days;
