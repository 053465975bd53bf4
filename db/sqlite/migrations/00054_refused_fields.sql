-- +goose Up

-- The fields of a chat request that a model of an endpoint refuses; see memory.RefusedField.
CREATE TABLE refused_fields (
    endpoint TEXT NOT NULL,
    model    TEXT NOT NULL,
    field    TEXT NOT NULL,
    PRIMARY KEY (endpoint, model, field)
) WITHOUT ROWID;

-- +goose Down

DROP TABLE refused_fields;
