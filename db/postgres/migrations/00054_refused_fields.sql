-- +goose Up

-- The fields of a chat request that a model of an endpoint refuses; see memory.RefusedField.
CREATE TABLE refused_fields (
    endpoint text COLLATE "C" NOT NULL,
    model    text COLLATE "C" NOT NULL,
    field    text COLLATE "C" NOT NULL,
    PRIMARY KEY (endpoint, model, field)
);

-- +goose Down

DROP TABLE refused_fields;
