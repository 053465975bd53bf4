package sqlite

import (
	"encoding/json"
	"fmt"

	"hippocampus/db/sqlstore"
	"hippocampus/internal/memory"
)

// The columns that memoryFields reads: all, or all but the embedding, which is
// the largest part of a row.
const (
	recordColumns = `id, app_id, user_id, agent_id, conversation_id, coalesce(source_turn_id, ''), speaker, content,
		memory_type, domain, tags, importance_score, metadata, pinned, status, coalesce(superseded_by, ''),
		created_at, updated_at, last_accessed_at, access_count, `
	bareColumns    = recordColumns + `lexemes, embedding_model, revision, `
	memoryColumns  = bareColumns + `embedding, ` + besideColumns
	withoutVectors = bareColumns + noVectors
	noVectors      = `NULL, '', NULL`
	besideColumns  = `coalesce((SELECT model FROM reembeddings WHERE memory_id = id), ''),
		(SELECT reembeddings.embedding FROM reembeddings WHERE memory_id = id)`
)

func memoryFields(m *memory.Memory) []any {
	return []any{
		&m.ID, &m.AppID, &m.UserID, &m.AgentID, &m.ConversationID, &m.SourceTurnID, &m.Speaker, &m.Content,
		&m.Type, &m.Domain, (*tagList)(&m.Tags), &m.Importance, (*[]byte)(&m.Metadata), &m.Pinned, &m.Status, &m.SupersededBy,
		(*instant)(&m.CreatedAt), (*instant)(&m.UpdatedAt), (*instant)(&m.LastAccessedAt), &m.AccessCount,
		&m.Lexemes, &m.EmbeddingModel, &m.Revision, (*vector)(&m.Embedding), &m.OtherModel, (*vector)(&m.OtherEmbedding),
	}
}

// Columns whose values are not of a type of SQLite.
type (
	tagList []string // JSON array; an empty one is nil
	vector  = sqlstore.Vector
)

func (l *tagList) Scan(column any) error {
	text, ok := column.(string)
	if !ok {
		return fmt.Errorf("the tags are a %T", column)
	}
	var tags []string
	if err := json.Unmarshal([]byte(text), &tags); err != nil {
		return fmt.Errorf("read the tags: %w", err)
	}
	*l = nil
	if len(tags) > 0 {
		*l = tags
	}
	return nil
}
