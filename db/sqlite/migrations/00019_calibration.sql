-- +goose Up

-- What the cosine similarities of each embedding space mean; see memory.Calibration.
CREATE TABLE calibrations (
    model             TEXT NOT NULL,
    dim               INTEGER NOT NULL,
    english_unrelated REAL NOT NULL,
    english_related   REAL NOT NULL,
    chinese_unrelated REAL NOT NULL,
    chinese_related   REAL NOT NULL,
    PRIMARY KEY (model, dim)
);
