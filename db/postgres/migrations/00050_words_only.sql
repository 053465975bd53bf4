-- +goose Up

-- The memories without an embedding, which are embedded when an embedder accepts their texts.
CREATE INDEX IF NOT EXISTS agent_memories_words_only ON agent_memories (app_id, id)
    WHERE status = 'active' AND embedding_model = '';

-- +goose Down

DROP INDEX agent_memories_words_only;
