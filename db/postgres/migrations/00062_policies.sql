-- +goose Up

-- What each app remembers, in versions; see memory.Policy. The newest version serves.
CREATE TABLE policies (
    app_id       text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    version      integer NOT NULL CHECK (version > 0),
    policy       json NOT NULL CHECK (json_typeof(policy) = 'object'),
    note         text NOT NULL,
    published_at timestamptz NOT NULL,
    published_by text NOT NULL, -- id of a key
    PRIMARY KEY (app_id, version)
);

ALTER TABLE candidates ADD COLUMN tags text[]; -- of the memory that it becomes

-- +goose Down

ALTER TABLE candidates DROP COLUMN tags;
DROP TABLE policies;
