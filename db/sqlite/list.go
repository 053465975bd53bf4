package sqlite

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
		where.add(`+agent_id IN ('', ?)`, f.SeenBy)
	}
	if !f.Since.IsZero() {
		where.add(`created_at >= ?`, moment(f.Since))
	}
	if !f.Until.IsZero() {
		where.add(`created_at < ?`, moment(f.Until))
	}
	if p := f.Before; p != nil {
		where.add(`(created_at, id) < (?, ?)`, moment(p.At), p.ID)
	}
	matching(&where, f)
	from := `agent_memories`
	if len(f.Tags)+len(f.AnyTags) > 0 && f.AsOf.IsZero() {
		from += ` INDEXED BY agent_memories_tagged`
	}
	found, err := collect(ctx, s.reader, memoryFields, `SELECT `+withoutVectors+` FROM `+from+` WHERE `+where.sql()+
		` ORDER BY created_at DESC, id DESC LIMIT ?`, append(where.args, f.Limit)...)
	return found, fault(err, "list the memories")
}

// matching adds the conditions on what can change during a memory's life.
func matching(where *conditions, f db.MemoryFilter) {
	var now conditions
	// The + keeps SQLite from a less selective index than the owner's, which also has the order.
	if len(f.Types) > 0 {
		now.add(`+memory_type IN (SELECT value FROM json_each(?))`, list(f.Types))
	}
	if len(f.Domains) > 0 {
		now.add(`+domain IN (SELECT value FROM json_each(?))`, list(f.Domains))
	}
	if len(f.Statuses) > 0 {
		now.add(`+status IN (SELECT value FROM json_each(?))`, list(f.Statuses))
	}
	if len(f.Tags) > 0 { // an index has tags <> '[]' as its condition
		now.add(`tags <> '[]' AND NOT EXISTS (SELECT 1 FROM json_each(?) AS wanted
			WHERE wanted.value NOT IN (SELECT value FROM json_each(agent_memories.tags)))`, list(f.Tags))
	}
	if len(f.AnyTags) > 0 {
		now.add(`tags <> '[]' AND EXISTS (SELECT 1 FROM json_each(agent_memories.tags) AS held
			WHERE held.value IN (SELECT value FROM json_each(?)))`, list(f.AnyTags))
	}
	if f.AsOf.IsZero() {
		where.terms, where.args = append(where.terms, now.terms...), append(where.args, now.args...)
		return
	}
	at := moment(f.AsOf)
	where.add(`created_at <= ?`, at)
	where.add(`NOT EXISTS (SELECT 1 FROM memory_events AS e WHERE e.memory_id = agent_memories.id AND e.kind = 'created'
		AND e.at > ?)`, at)
	if len(now.terms) > 0 {
		where.add(`(`+now.sql()+
			` OR EXISTS (SELECT 1 FROM memory_events AS e WHERE e.memory_id = agent_memories.id AND e.at > ?))`,
			append(now.args, at)...)
	}
}
