-- +goose Up

-- A turn that its client has taken back.
ALTER TABLE turns DROP CONSTRAINT turns_status_check;
ALTER TABLE turns DROP CONSTRAINT turns_check;
ALTER TABLE turns ADD COLUMN withdrawn_at timestamptz;
ALTER TABLE turns
    ADD CONSTRAINT turns_status_check CHECK (status IN ('accepted', 'processed', 'failed', 'withdrawn')),
    ADD CONSTRAINT turns_check CHECK (status = 'withdrawn' OR (status = 'processed') = (processed_at IS NOT NULL)),
    ADD CONSTRAINT turns_withdrawn_check CHECK ((status = 'withdrawn') = (withdrawn_at IS NOT NULL));

-- +goose Down

DELETE FROM turns WHERE status = 'withdrawn';
ALTER TABLE turns DROP CONSTRAINT turns_withdrawn_check;
ALTER TABLE turns DROP CONSTRAINT turns_status_check;
ALTER TABLE turns DROP CONSTRAINT turns_check;
ALTER TABLE turns DROP COLUMN withdrawn_at;
ALTER TABLE turns
    ADD CONSTRAINT turns_status_check CHECK (status IN ('accepted', 'processed', 'failed')),
    ADD CONSTRAINT turns_check CHECK ((status = 'processed') = (processed_at IS NOT NULL));
