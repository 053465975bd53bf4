-- +goose Up

-- Episodes of users; see db.Episode.
CREATE TABLE episodes (
    app_id   text COLLATE "C" NOT NULL,
    user_id  text COLLATE "C" NOT NULL,
    id       uuid NOT NULL,
    agent_id text COLLATE "C" NOT NULL,
    theme_id uuid,
    began    timestamptz NOT NULL,
    ended    timestamptz NOT NULL,
    basis    text NOT NULL,
    label    json NOT NULL CHECK (json_typeof(label) = 'object'),
    PRIMARY KEY (app_id, user_id, id)
);
CREATE INDEX episodes_by_end ON episodes (app_id, user_id, ended, id);
CREATE INDEX episodes_of_theme ON episodes (app_id, user_id, theme_id, ended, id);

-- The memories of episodes. A memory is in one at most.
CREATE TABLE episode_memories (
    app_id     text COLLATE "C" NOT NULL,
    user_id    text COLLATE "C" NOT NULL,
    memory_id  uuid NOT NULL,
    episode_id uuid NOT NULL,
    PRIMARY KEY (app_id, user_id, memory_id),
    FOREIGN KEY (app_id, user_id, episode_id) REFERENCES episodes ON DELETE CASCADE
);
CREATE INDEX episode_memories_of_episode ON episode_memories (app_id, user_id, episode_id);

-- The revision of an owner's memories that the episodes were made from; see db.EpisodeState.
CREATE TABLE episode_states (
    app_id   text COLLATE "C" NOT NULL,
    user_id  text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    PRIMARY KEY (app_id, user_id)
);

-- +goose Down

DROP TABLE episode_states;
DROP TABLE episode_memories;
DROP TABLE episodes;
