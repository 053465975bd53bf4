-- +goose Up

-- Episodes of users; see db.Episode.
CREATE TABLE episodes (
    app_id   TEXT NOT NULL,
    user_id  TEXT NOT NULL,
    id       TEXT NOT NULL CHECK (length(id) = 36),
    agent_id TEXT NOT NULL,
    theme_id TEXT CHECK (length(theme_id) = 36),
    began    INTEGER NOT NULL,
    ended    INTEGER NOT NULL,
    basis    TEXT NOT NULL,
    label    TEXT NOT NULL CHECK (json_type(label) = 'object'),
    PRIMARY KEY (app_id, user_id, id)
) WITHOUT ROWID;
CREATE INDEX episodes_by_end ON episodes (app_id, user_id, ended, id);
CREATE INDEX episodes_of_theme ON episodes (app_id, user_id, theme_id, ended, id);

-- The memories of episodes. A memory is in one at most.
CREATE TABLE episode_memories (
    app_id     TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    memory_id  TEXT NOT NULL CHECK (length(memory_id) = 36),
    episode_id TEXT NOT NULL,
    PRIMARY KEY (app_id, user_id, memory_id),
    FOREIGN KEY (app_id, user_id, episode_id) REFERENCES episodes ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX episode_memories_of_episode ON episode_memories (app_id, user_id, episode_id);

-- The revision of an owner's memories that the episodes were made from; see db.EpisodeState.
CREATE TABLE episode_states (
    app_id   TEXT NOT NULL,
    user_id  TEXT NOT NULL,
    revision INTEGER NOT NULL,
    PRIMARY KEY (app_id, user_id)
) WITHOUT ROWID;

-- +goose Down

DROP TABLE episode_states;
DROP TABLE episode_memories;
DROP TABLE episodes;
