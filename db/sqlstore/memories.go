package sqlstore

import (
	"context"
	"fmt"
	"time"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// memoryColumns are the columns that memoryFields reads, without embeddings.
const memoryColumns = `id, app_id, user_id, agent_id, conversation_id, source_turn_id, speaker, content,
	memory_type, domain, nullif(tags, {ARRAY[]::text[]|'[]'}), importance_score, metadata, pinned, status, superseded_by,
	created_at, updated_at, last_accessed_at, access_count, lexemes, embedding_model, revision`

func memoryFields(m *memory.Memory) []any {
	return []any{
		&m.ID, &m.AppID, &m.UserID, &m.AgentID, &m.ConversationID, (*ID)(&m.SourceTurnID), &m.Speaker, &m.Content,
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

func (s *Store) Events(ctx context.Context, owner memory.Owner, ids []string) (map[string][]memory.Event, error) {
	events, err := collect(ctx, s.conn, eventFields,
		selectEvents+`memory_id = ANY($1::uuid[]) AND {|+}app_id = $2 AND {|+}user_id = $3 ORDER BY at, id`,
		validIDs(ids), owner.AppID, owner.UserID)
	return byMemory(events), s.fault(err, "read the histories of the memories")
}

// byMemory groups events by memory, in their order.
func byMemory(events []memory.Event) map[string][]memory.Event {
	histories := map[string][]memory.Event{}
	for _, e := range events {
		histories[e.MemoryID] = append(histories[e.MemoryID], e)
	}
	return histories
}

func (s *Store) HandedOut(
	ctx context.Context, owner memory.Owner, since time.Time, limit int,
) ([]memory.Memory, error) {
	found, err := collect(ctx, s.conn, memoryFields, `
		SELECT `+memoryColumns+` FROM agent_memories{| INDEXED BY agent_memories_handed_out}
		WHERE app_id = $1 AND user_id = $2 AND status = 'active' AND access_count > 0 AND last_accessed_at >= $3
		ORDER BY last_accessed_at DESC, id DESC LIMIT $4`, owner.AppID, owner.UserID, since, limit)
	return found, s.fault(err, "read what recall has handed out")
}

func (s *Store) ListMemories(ctx context.Context, f db.MemoryFilter) ([]memory.Memory, error) {
	list := s.listMemories
	if f.Where != nil && f.AsOf.IsZero() {
		list = s.listMatching
	}
	found, err := list(ctx, f)
	return found, s.fault(err, "list the memories")
}

// listMemories lists the memories that meet f.Where's requirement.
func (s *Store) listMemories(ctx context.Context, f db.MemoryFilter) ([]memory.Memory, error) {
	var where Conditions
	where.Add(`app_id = ? AND user_id = ?`, f.Owner.AppID, f.Owner.UserID)
	if f.ConversationID != "" {
		where.Add(`conversation_id = ?`, f.ConversationID)
	}
	if f.AgentID != "" {
		where.Add(`agent_id = ?`, f.AgentID)
	}
	if f.SeenBy != "" {
		where.Add(`{|+}agent_id IN ('', ?)`, f.SeenBy)
	}
	if !f.Since.IsZero() {
		where.Add(`created_at >= ?`, f.Since)
	}
	if !f.Until.IsZero() {
		where.Add(`created_at < ?`, f.Until)
	}
	if p := f.Before; p != nil {
		where.Add(`(created_at, id) < (?, ?)`, p.At, p.ID)
	}
	where.addChangeable(f, s.dialect)
	from := ` FROM agent_memories`
	switch {
	case !f.AsOf.IsZero():
	case len(f.Tags)+len(f.AnyTags) > 0:
		from += `{| INDEXED BY agent_memories_tagged}`
	default:
		from += indexOf(f.Where)
	}
	return page(ctx, s.conn, memoryFields, `SELECT `+memoryColumns+from+` WHERE `, where,
		`created_at DESC, id DESC`, f.Limit)
}

// addChangeable adds the conditions on what can change during a memory's life.
func (c *Conditions) addChangeable(f db.MemoryFilter, d Dialect) {
	now := Conditions{Args: c.Args}
	// The + keeps SQLite from a less selective index than the owner's, which also has the order.
	if len(f.Types) > 0 {
		now.Add(`{|+}memory_type = ANY(?)`, f.Types)
	}
	if len(f.Domains) > 0 {
		now.Add(`{|+}domain = ANY(?)`, f.Domains)
	}
	if len(f.Statuses) > 0 {
		now.Add(`{|+}status = ANY(?)`, f.Statuses)
	}
	// An index has the tags' first condition as its own.
	if len(f.Tags) > 0 {
		wanted := now.Arg(f.Tags)
		now.Add(`{cardinality(tags) > 0 AND tags @> ` + wanted + `|tags <> '[]' AND NOT EXISTS (
			SELECT 1 FROM json_each(` + wanted + `) AS wanted
			WHERE wanted.value NOT IN (SELECT value FROM json_each(agent_memories.tags)))}`)
	}
	if len(f.AnyTags) > 0 {
		wanted := now.Arg(f.AnyTags)
		now.Add(`{cardinality(tags) > 0 AND tags && ` + wanted + `|tags <> '[]' AND EXISTS (
			SELECT 1 FROM json_each(agent_memories.tags) AS held
			WHERE held.value IN (SELECT value FROM json_each(` + wanted + `)))}`)
	}
	now.addRequirement(f.Where, d)
	c.Args = now.Args
	if f.AsOf.IsZero() {
		c.Terms = append(c.Terms, now.Terms...)
		return
	}
	const since = `EXISTS (SELECT 1 FROM memory_events AS e WHERE e.memory_id = agent_memories.id AND e.at > ?`
	c.Add(`created_at <= ?`, f.AsOf)
	c.Add(`NOT `+since+` AND e.kind = 'created')`, f.AsOf)
	if len(now.Terms) > 0 {
		c.Add(`(`+now.SQL()+` OR `+since+`))`, f.AsOf)
	}
}
