-- +goose Up

-- What maintenance notes of an owner.
CREATE TABLE user_states (
    app_id        text COLLATE "C" NOT NULL CHECK (octet_length(app_id) BETWEEN 1 AND 256),
    user_id       text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 256),
    reflected_at  timestamptz,
    compressed_at timestamptz,
    PRIMARY KEY (app_id, user_id)
);

-- A list of candidates can be restricted to a user, as a list of turns can.
ALTER TABLE candidates ADD COLUMN user_id text COLLATE "C";
UPDATE candidates SET user_id = turns.user_id FROM turns WHERE turns.id = candidates.turn_id;
ALTER TABLE candidates ALTER COLUMN user_id SET NOT NULL;
DROP INDEX candidates_by_verdict;
CREATE INDEX candidates_by_app ON candidates (app_id, created_at, id);
CREATE INDEX candidates_by_verdict ON candidates (app_id, verdict, created_at, id);
CREATE INDEX candidates_by_user ON candidates (app_id, user_id, created_at, id);

-- Requeued while claimed: the end of that claim is not the end of the work.
ALTER TABLE agent_memories ADD COLUMN vector_again boolean NOT NULL DEFAULT false;

CREATE INDEX agent_memories_facts ON agent_memories (app_id, user_id, updated_at, id)
    WHERE status = 'active' AND memory_type NOT IN ('reflection', 'summary');
CREATE INDEX agent_memories_purgeable ON agent_memories (updated_at, id)
    WHERE status = 'forgotten' AND vector_state = 'absent';
