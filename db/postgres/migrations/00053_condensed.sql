-- +goose Up

-- A new statement is compared with facts that an insight stands for, newest first.
CREATE INDEX agent_memories_condensed ON agent_memories (app_id, user_id, updated_at, id)
    WHERE status = 'consolidated' AND memory_type NOT IN ('message', 'reflection', 'summary');

-- +goose Down

DROP INDEX agent_memories_condensed;
