-- +goose Up

-- What each app remembers, in versions; see memory.Policy. The newest version serves.
CREATE TABLE policies (
    app_id       TEXT NOT NULL CHECK (length(CAST(app_id AS BLOB)) BETWEEN 1 AND 256),
    version      INTEGER NOT NULL CHECK (version > 0),
    policy       TEXT NOT NULL CHECK (json_type(policy) = 'object'),
    note         TEXT NOT NULL,
    published_at INTEGER NOT NULL,
    published_by TEXT NOT NULL, -- id of a key
    PRIMARY KEY (app_id, version)
) WITHOUT ROWID;

ALTER TABLE candidates ADD COLUMN tags TEXT; -- of the memory that it becomes

-- +goose Down

ALTER TABLE candidates DROP COLUMN tags;
DROP TABLE policies;
