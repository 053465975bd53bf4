package postgres

import (
	"context"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// ListMemories pages through a user's memories, newest first, without embeddings.
func (s *Store) ListMemories(ctx context.Context, f db.MemoryFilter) ([]memory.Memory, error) {
	var where conditions
	where.add(`app_id = ? AND user_id = ?`, f.Owner.AppID, f.Owner.UserID)
	if f.ConversationID != "" {
		where.add(`conversation_id = ?`, f.ConversationID)
	}
	if f.AgentID != "" {
		where.add(`agent_id = ?`, f.AgentID)
	}
	if f.SeenBy != "" {
		where.add(`agent_id IN ('', ?)`, f.SeenBy)
	}
	if !f.Since.IsZero() {
		where.add(`created_at >= ?`, f.Since)
	}
	if !f.Until.IsZero() {
		where.add(`created_at < ?`, f.Until)
	}
	if p := f.Before; p != nil {
		where.add(`(created_at, id) < (?, ?)`, p.At, p.ID)
	}
	matching(&where, f)
	found, err := memories(ctx, s.pool, `SELECT `+withoutVectors+` FROM agent_memories WHERE `+where.sql()+
		` ORDER BY created_at DESC, id DESC LIMIT `+where.arg(f.Limit), where.args...)
	return found, fault(err, "list the memories")
}

// matching adds the conditions on what can change in a memory's life.
func matching(where *conditions, f db.MemoryFilter) {
	now := conditions{args: where.args}
	if len(f.Types) > 0 {
		now.add(`memory_type = ANY(?)`, f.Types)
	}
	if len(f.Domains) > 0 {
		now.add(`domain = ANY(?)`, f.Domains)
	}
	if len(f.Statuses) > 0 {
		now.add(`status = ANY(?)`, f.Statuses)
	}
	if len(f.Tags) > 0 { // the number is the condition of an index
		now.add(`cardinality(tags) > 0 AND tags @> ?`, f.Tags)
	}
	if len(f.AnyTags) > 0 {
		now.add(`cardinality(tags) > 0 AND tags && ?`, f.AnyTags)
	}
	where.args = now.args
	if f.AsOf.IsZero() {
		where.terms = append(where.terms, now.terms...)
		return
	}
	where.add(`created_at <= ?`, f.AsOf)
	where.add(`NOT EXISTS (SELECT FROM memory_events e WHERE e.memory_id = agent_memories.id AND e.kind = 'created' AND e.at > ?)`, f.AsOf)
	if len(now.terms) > 0 {
		where.add(`(`+now.sql()+` OR EXISTS (SELECT FROM memory_events e WHERE e.memory_id = agent_memories.id AND e.at > ?))`, f.AsOf)
	}
}
