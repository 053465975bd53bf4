-- +goose Up

ALTER TABLE agent_memories ADD COLUMN speaker TEXT NOT NULL DEFAULT ''
    CHECK (length(CAST(speaker AS BLOB)) <= 256); -- who said a message

-- Reflection reads facts only. Messages are many times as many.
DROP INDEX agent_memories_facts;
CREATE INDEX agent_memories_facts ON agent_memories (app_id, user_id, updated_at, id)
    WHERE status = 'active' AND memory_type NOT IN ('message', 'reflection', 'summary');
-- A write looks for a fact of the same content.
DROP INDEX agent_memories_by_content;
CREATE INDEX agent_memories_by_content ON agent_memories (app_id, user_id, agent_id, content_hash)
    WHERE status = 'active' AND memory_type <> 'message';
