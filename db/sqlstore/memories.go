package sqlstore

import (
	"context"
	"fmt"
	"time"

	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// memoryColumns are the columns that memoryFields reads, without embeddings.
const memoryColumns = `id, app_id, user_id, agent_id, conversation_id, source_turn_id, content,
	memory_type, domain, nullif(tags, {ARRAY[]::text[]|'[]'}), importance_score, metadata, pinned, status, superseded_by,
	created_at, updated_at, last_accessed_at, access_count, lexemes, embedding_model, revision`

func memoryFields(m *memory.Memory) []any {
	return []any{
		&m.ID, &m.AppID, &m.UserID, &m.AgentID, &m.ConversationID, (*ID)(&m.SourceTurnID), &m.Content,
		&m.Type, &m.Domain, &m.Tags, &m.Importance, &m.Metadata, &m.Pinned, &m.Status, (*ID)(&m.SupersededBy),
		&m.CreatedAt, &m.UpdatedAt, &m.LastAccessedAt, &m.AccessCount, &m.Lexemes, &m.EmbeddingModel, &m.Revision,
	}
}

// embeddingColumns follow memoryColumns where embeddedFields reads both.
const embeddingColumns = `, {(SELECT embeddings.embedding FROM embeddings WHERE memory_id = id)|embedding},
	coalesce((SELECT model FROM reembeddings WHERE memory_id = id), ''),
	(SELECT reembeddings.embedding FROM reembeddings WHERE memory_id = id)`

func embeddedFields(m *memory.Memory) []any {
	return append(memoryFields(m), (*Vector)(&m.Embedding), &m.OtherModel, (*Vector)(&m.OtherEmbedding))
}

// Vector is an embedding column.
type Vector []float32

// Scan reads the column.
func (v *Vector) Scan(column any) error {
	switch b := column.(type) {
	case nil:
		*v = nil
	case []byte:
		*v = rowcodec.Vector(b)
	default:
		return fmt.Errorf("the embedding is a %T", column)
	}
	return nil
}

// Memory returns one memory of the app, in any status, without its embedding.
func (s *Store) Memory(ctx context.Context, appID, id string) (m memory.Memory, err error) {
	if !memory.IsID(id) {
		return m, NotFound("memory", id)
	}
	m, ok, err := first(ctx, s.conn, memoryFields,
		`SELECT `+memoryColumns+` FROM agent_memories WHERE id = $1 AND app_id = $2`, id, appID)
	return m, s.require(ok, err, "read the memory", NotFound("memory", id))
}

const selectEvents = `SELECT id, memory_id, kind, cause, detail, at FROM memory_events WHERE `

func eventFields(e *memory.Event) []any {
	return []any{&e.ID, &e.MemoryID, &e.Kind, &e.Cause, &e.Detail, &e.At}
}

// History lists the events of a memory of the app, oldest first.
func (s *Store) History(ctx context.Context, appID, memoryID string) ([]memory.Event, error) {
	if !memory.IsID(memoryID) {
		return nil, NotFound("memory", memoryID)
	}
	events, err := collect(ctx, s.conn, eventFields, selectEvents+`memory_id = $1 AND app_id = $2 ORDER BY at, id`,
		memoryID, appID)
	if err == nil && len(events) == 0 {
		_, err = s.Memory(ctx, appID, memoryID)
	}
	return events, s.fault(err, "read the history of the memory")
}

// Events lists the events of those of the ids that are memories of the owner.
func (s *Store) Events(ctx context.Context, owner memory.Owner, ids []string) (map[string][]memory.Event, error) {
	events, err := collect(ctx, s.conn, eventFields,
		selectEvents+`memory_id = ANY($1::uuid[]) AND {|+}app_id = $2 AND {|+}user_id = $3 ORDER BY at, id`,
		validIDs(ids), owner.AppID, owner.UserID)
	return rowcodec.ByMemory(events), s.fault(err, "read the histories of the memories")
}

// HandedOut returns the owner's active memories that recall touched at or after since.
func (s *Store) HandedOut(
	ctx context.Context, owner memory.Owner, since time.Time, limit int,
) ([]memory.Memory, error) {
	found, err := collect(ctx, s.conn, memoryFields, `
		SELECT `+memoryColumns+` FROM agent_memories{| INDEXED BY agent_memories_handed_out}
		WHERE app_id = $1 AND user_id = $2 AND status = 'active' AND access_count > 0 AND last_accessed_at >= $3
		ORDER BY last_accessed_at DESC, id DESC LIMIT $4`, owner.AppID, owner.UserID, since, limit)
	return found, s.fault(err, "read what recall has handed out")
}
