-- +goose Up

-- What versions of instructions rest on, and the outcomes of skills before their publication and since; see
-- memory.InstructionVersion.
ALTER TABLE instruction_versions ADD COLUMN grounds TEXT CHECK (json_type(grounds) = 'array'); -- NULL: by a person
ALTER TABLE instruction_versions ADD COLUMN successes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE instruction_versions ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE instruction_versions ADD COLUMN successes_before INTEGER NOT NULL DEFAULT 0;
ALTER TABLE instruction_versions ADD COLUMN failures_before INTEGER NOT NULL DEFAULT 0;
CREATE INDEX instruction_versions_grounded ON instruction_versions (app_id, scope, holder) WHERE grounds IS NOT NULL;

-- Proposed versions of instructions are rows of the same table as proposed insights; see db.ProposedInsight.
ALTER TABLE proposed_insights ADD COLUMN instruction TEXT NOT NULL DEFAULT ''; -- name; empty: it is an insight
ALTER TABLE proposed_insights ADD COLUMN grounds TEXT NOT NULL DEFAULT '[]' CHECK (json_type(grounds) = 'array');
ALTER TABLE proposed_insights ADD COLUMN basis INTEGER NOT NULL DEFAULT 0;
ALTER TABLE proposed_insights ADD COLUMN decided INTEGER NOT NULL DEFAULT 0 CHECK (decided IN (0, 1));

-- +goose Down

DELETE FROM proposed_insights WHERE instruction <> '';
ALTER TABLE proposed_insights DROP COLUMN decided;
ALTER TABLE proposed_insights DROP COLUMN basis;
ALTER TABLE proposed_insights DROP COLUMN grounds;
ALTER TABLE proposed_insights DROP COLUMN instruction;
DROP INDEX instruction_versions_grounded;
ALTER TABLE instruction_versions DROP COLUMN failures_before;
ALTER TABLE instruction_versions DROP COLUMN successes_before;
ALTER TABLE instruction_versions DROP COLUMN failures;
ALTER TABLE instruction_versions DROP COLUMN successes;
ALTER TABLE instruction_versions DROP COLUMN grounds;
