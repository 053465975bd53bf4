-- +goose Up

-- The schemas of the profiles of apps; see db.ProfileSchema.
CREATE TABLE profile_schemas (
    app_id    TEXT PRIMARY KEY CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    version   INTEGER NOT NULL CHECK (version > 0),
    schema    TEXT NOT NULL CHECK (json_type(schema) = 'object'),
    stored_at INTEGER NOT NULL,
    stored_by TEXT NOT NULL -- id of a key
) WITHOUT ROWID;

-- What a model has read for them; see db.FilledProfile.
CREATE TABLE filled_profiles (
    app_id    TEXT NOT NULL,
    user_id   TEXT NOT NULL,
    agent_id  TEXT NOT NULL,
    basis     TEXT NOT NULL CHECK (basis <> ''),
    fields    TEXT NOT NULL CHECK (json_type(fields) = 'array'),
    filled_at INTEGER NOT NULL,
    PRIMARY KEY (app_id, user_id, agent_id)
) WITHOUT ROWID;

-- +goose Down

DROP TABLE filled_profiles;
DROP TABLE profile_schemas;
