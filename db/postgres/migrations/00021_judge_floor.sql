-- +goose Up

-- The mean cosine of two unrelated statements; see memory.Calibration. Spaces are measured again.
DELETE FROM calibrations;
ALTER TABLE calibrations ADD COLUMN english_floor double precision NOT NULL DEFAULT 0;
ALTER TABLE calibrations ADD COLUMN chinese_floor double precision NOT NULL DEFAULT 0;
