-- +goose Up

-- What versions of instructions rest on, and the outcomes of skills before their publication and since; see
-- memory.InstructionVersion.
ALTER TABLE instruction_versions
    ADD COLUMN grounds          json CHECK (json_typeof(grounds) = 'array'), -- NULL: a person has written it
    ADD COLUMN successes        integer NOT NULL DEFAULT 0,
    ADD COLUMN failures         integer NOT NULL DEFAULT 0,
    ADD COLUMN successes_before integer NOT NULL DEFAULT 0,
    ADD COLUMN failures_before  integer NOT NULL DEFAULT 0;
CREATE INDEX instruction_versions_grounded ON instruction_versions (app_id, scope, holder) WHERE grounds IS NOT NULL;

-- Proposed versions of instructions are rows of the same table as proposed insights; see db.ProposedInsight.
ALTER TABLE proposed_insights
    ADD COLUMN instruction text NOT NULL DEFAULT '', -- name; empty: it is an insight
    ADD COLUMN grounds     json NOT NULL DEFAULT '[]' CHECK (json_typeof(grounds) = 'array'),
    ADD COLUMN basis       bigint NOT NULL DEFAULT 0,
    ADD COLUMN decided     boolean NOT NULL DEFAULT false; -- it is kept so that it is not proposed again

-- +goose Down

DELETE FROM proposed_insights WHERE instruction <> '';
ALTER TABLE proposed_insights DROP COLUMN instruction, DROP COLUMN grounds, DROP COLUMN basis, DROP COLUMN decided;
DROP INDEX instruction_versions_grounded;
ALTER TABLE instruction_versions DROP COLUMN grounds, DROP COLUMN successes, DROP COLUMN failures,
    DROP COLUMN successes_before, DROP COLUMN failures_before;
