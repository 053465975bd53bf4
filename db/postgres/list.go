package postgres

import (
	"context"

	"hippocampus/db"
	"hippocampus/db/sqlstore"
	"hippocampus/internal/memory"
)

// ListMemories pages through a user's memories, newest first, without embeddings.
func (s *Store) ListMemories(ctx context.Context, f db.MemoryFilter) ([]memory.Memory, error) {
	var where sqlstore.Conditions
	where.Add(`app_id = ? AND user_id = ?`, f.Owner.AppID, f.Owner.UserID)
	if f.ConversationID != "" {
		where.Add(`conversation_id = ?`, f.ConversationID)
	}
	if f.AgentID != "" {
		where.Add(`agent_id = ?`, f.AgentID)
	}
	if f.SeenBy != "" {
		where.Add(`agent_id IN ('', ?)`, f.SeenBy)
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
	matching(&where, f)
	found, err := memories(ctx, s.pool, `SELECT `+withoutVectors+` FROM agent_memories WHERE `+where.SQL()+
		` ORDER BY created_at DESC, id DESC LIMIT `+where.Arg(f.Limit), where.Args...)
	return found, fault(err, "list the memories")
}

// matching adds the conditions on what can change during a memory's life.
func matching(where *sqlstore.Conditions, f db.MemoryFilter) {
	now := sqlstore.Conditions{Args: where.Args}
	if len(f.Types) > 0 {
		now.Add(`memory_type = ANY(?)`, f.Types)
	}
	if len(f.Domains) > 0 {
		now.Add(`domain = ANY(?)`, f.Domains)
	}
	if len(f.Statuses) > 0 {
		now.Add(`status = ANY(?)`, f.Statuses)
	}
	if len(f.Tags) > 0 { // an index has the cardinality as its condition
		now.Add(`cardinality(tags) > 0 AND tags @> ?`, f.Tags)
	}
	if len(f.AnyTags) > 0 {
		now.Add(`cardinality(tags) > 0 AND tags && ?`, f.AnyTags)
	}
	where.Args = now.Args
	if f.AsOf.IsZero() {
		where.Terms = append(where.Terms, now.Terms...)
		return
	}
	where.Add(`created_at <= ?`, f.AsOf)
	where.Add(`NOT EXISTS (SELECT FROM memory_events e WHERE e.memory_id = agent_memories.id AND e.kind = 'created'
		AND e.at > ?)`, f.AsOf)
	if len(now.Terms) > 0 {
		where.Add(`(`+now.SQL()+
			` OR EXISTS (SELECT FROM memory_events e WHERE e.memory_id = agent_memories.id AND e.at > ?))`, f.AsOf)
	}
}
