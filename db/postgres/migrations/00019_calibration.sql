-- +goose Up

-- What the cosine similarities of each embedding space mean; see memory.Calibration.
CREATE TABLE calibrations (
    model             text COLLATE "C" NOT NULL,
    dim               integer NOT NULL,
    english_unrelated double precision NOT NULL,
    english_related   double precision NOT NULL,
    chinese_unrelated double precision NOT NULL,
    chinese_related   double precision NOT NULL,
    PRIMARY KEY (model, dim)
);
