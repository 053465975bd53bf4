-- +goose Up

-- Forgetting a memory takes the facts that it states from their timelines.
CREATE INDEX facts_of_memories ON facts (app_id, user_id, memory_id) WHERE state = 'accepted' AND memory_id IS NOT NULL;

-- +goose Down

DROP INDEX facts_of_memories;
