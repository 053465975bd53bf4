-- +goose Up

-- A client may ask for the consolidation of a conversation that goes on.
ALTER TABLE consolidation_jobs DROP CONSTRAINT consolidation_jobs_cause_check,
    ADD CONSTRAINT consolidation_jobs_cause_check
    CHECK (cause IN ('important', 'full', 'schedule', 'end', 'idle', 'request'));
