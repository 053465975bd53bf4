package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// memoryColumns are the columns that memoryFields reads, without embeddings.
const memoryColumns = `id, app_id, user_id, agent_id, conversation_id, source_turn_id, speaker, asked, content,
	memory_type, domain, nullif(tags, {ARRAY[]::text[]|'[]'}), importance_score, metadata, pinned, status, faded,
	superseded_by, created_at, last_said_at, expires_at, updated_at, last_accessed_at, access_count, lexemes,
	embedding_model, revision`

func memoryFields(m *memory.Memory) []any {
	return []any{
		&m.ID, &m.AppID, &m.UserID, &m.AgentID, &m.ConversationID, (*ID)(&m.SourceTurnID), &m.Speaker, &m.Asked, &m.Content,
		&m.Type, &m.Domain, &m.Tags, &m.Importance, &m.Metadata, &m.Pinned, &m.Status, &m.Faded,
		(*ID)(&m.SupersededBy),
		&m.CreatedAt, &m.LastSaidAt, &m.ExpiresAt, &m.UpdatedAt, &m.LastAccessedAt, &m.AccessCount, &m.Lexemes,
		&m.EmbeddingModel, &m.Revision,
	}
}

// embeddingColumns follow memoryColumns where embeddedFields reads both, of agent_memories AS m.
const embeddingColumns = `, {(SELECT e.embedding FROM embeddings AS e
		WHERE e.memory_id = id AND e.app_id = m.app_id AND e.user_id = m.user_id)|embedding},
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
		`SELECT `+memoryColumns+` FROM agent_memories
		WHERE id = $1 AND app_id = $2 AND {|+}user_id <> $3`, id, appID, memory.PoolUser)
	return m, s.require(ok, err, "read the memory", NotFound("memory", id))
}

func (s *Store) Superseded(ctx context.Context, owner memory.Owner, by string) ([]memory.Memory, error) {
	if !memory.IsID(by) {
		return nil, nil
	}
	found, err := collect(ctx, s.conn, memoryFields, `SELECT `+memoryColumns+` FROM agent_memories
		WHERE superseded_by = $1 AND {|+}app_id = $2 AND {|+}user_id = $3 ORDER BY created_at, id`,
		by, owner.AppID, owner.UserID)
	return found, s.fault(err, "read what the memory supersedes")
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

func (u *UserTx) Events(ctx context.Context, memoryID string) ([]memory.Event, error) {
	events, err := collect(ctx, u.conn, eventFields,
		selectEvents+`memory_id = ANY($1::uuid[]) AND {|+}app_id = $2 AND {|+}user_id = $3 ORDER BY at, id`,
		validIDs([]string{memoryID}), u.Owner.AppID, u.Owner.UserID)
	return events, u.fault(err, "read the history of the memory")
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
		SELECT `+memoryColumns+` FROM agent_memories{| INDEXED BY agent_memories_ages}
		WHERE app_id = $1 AND user_id = $2 AND status = 'active' AND {access_count > 0|(access_count > 0) = 1}
			AND last_accessed_at >= $3
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
		where.Add(`agent_id = ? AND agent_id <> ''`, f.AgentID)
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
	if p := f.DownTo; p != nil {
		where.Add(`(created_at, id) >= (?, ?)`, p.At, p.ID)
	}
	where.addChangeable(f, s.dialect)
	from := ` FROM agent_memories`
	switch {
	case !f.AsOf.IsZero():
	case len(f.Tags)+len(f.AnyTags) > 0:
		from += `{| INDEXED BY agent_memories_tagged}`
	case f.AgentID != "":
		from += `{| INDEXED BY agent_memories_of_agents}`
	case onlyInactive(f):
		from += `{| INDEXED BY agent_memories_inactive}`
	default:
		from += indexOf(f.Where)
	}
	return page(ctx, s.conn, memoryFields, `SELECT `+memoryColumns+from+` WHERE `, where,
		`created_at DESC, id DESC`, f.Limit)
}

func (s *Store) EndOfExamined(ctx context.Context, f db.MemoryFilter, n int) (*db.Position, error) {
	indexed := f.ConversationID != "" || f.AgentID != "" || onlyInactive(f) || len(f.Tags)+len(f.AnyTags) > 0
	if f.Where == nil && f.AsOf.IsZero() && (indexed || len(f.Types)+len(f.Domains) == 0) {
		return nil, nil
	}
	var where Conditions
	where.Add(`app_id = ? AND user_id = ?`, f.Owner.AppID, f.Owner.UserID)
	index := `agent_memories_by_time`
	switch { // an index leads to the memories of a conversation or agent alone
	case f.ConversationID != "" && slices.Equal(f.Statuses, []memory.Status{memory.Active}) && f.AsOf.IsZero():
		where.Add(`conversation_id = ? AND status = 'active'`, f.ConversationID)
		index = `agent_memories_documents`
	case f.AgentID != "" && f.AsOf.IsZero():
		where.Add(`agent_id = ? AND agent_id <> ''`, f.AgentID)
		index = `agent_memories_of_agents`
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
	nth, ok, err := first(ctx, s.conn, func(p *db.Position) []any { return []any{&p.At, &p.ID} },
		`SELECT created_at, id FROM agent_memories{| INDEXED BY `+index+`} WHERE `+where.SQL()+`
		ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET `+where.Arg(n-1), where.Args...)
	if err != nil || !ok {
		return nil, s.fault(err, "find where the list is interrupted")
	}
	return &nth, nil
}

// onlyInactive reports whether a filter chooses one status other than active.
func onlyInactive(f db.MemoryFilter) bool {
	return len(f.Statuses) == 1 && f.Statuses[0] != memory.Active
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
	switch {
	case onlyInactive(f): // the conditions of an index
		now.Add(`status = ? AND status <> 'active'`, f.Statuses[0])
	case len(f.Statuses) > 0:
		now.Add(`{|+}status = ANY(?)`, f.Statuses)
	}
	// The first condition on tags is that of an index.
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
	if !f.Unexpired.IsZero() {
		now.Add(`({|+}expires_at IS NULL OR {|+}expires_at > ?)`, f.Unexpired)
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
