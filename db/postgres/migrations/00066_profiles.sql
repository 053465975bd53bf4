-- +goose Up

-- The schemas of the profiles of apps; see db.ProfileSchema.
CREATE TABLE profile_schemas (
    app_id    text COLLATE "C" PRIMARY KEY CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    version   integer NOT NULL CHECK (version > 0),
    schema    json NOT NULL CHECK (json_typeof(schema) = 'object'),
    stored_at timestamptz NOT NULL,
    stored_by text NOT NULL -- id of a key
);

-- What a model has read for them; see db.FilledProfile.
CREATE TABLE filled_profiles (
    app_id    text COLLATE "C" NOT NULL,
    user_id   text COLLATE "C" NOT NULL,
    agent_id  text COLLATE "C" NOT NULL,
    basis     text NOT NULL CHECK (basis <> ''),
    fields    json NOT NULL CHECK (json_typeof(fields) = 'array'),
    filled_at timestamptz NOT NULL,
    PRIMARY KEY (app_id, user_id, agent_id)
);

-- +goose Down

DROP TABLE filled_profiles;
DROP TABLE profile_schemas;
