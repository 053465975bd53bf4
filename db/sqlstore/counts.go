package sqlstore

import (
	"context"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// Stats counts one app's rows.
func (s *Store) Stats(ctx context.Context, appID string) (db.Stats, error) {
	counts, err := collect(ctx, s.conn,
		func(c *rowcodec.Count) []any { return []any{&c.What, &c.By[0], &c.By[1], &c.By[2], &c.N} }, `
		SELECT 'users', '', '', '', count(*) FROM (SELECT DISTINCT user_id FROM agent_memories WHERE app_id = $1) AS of_app
		UNION ALL SELECT 'memories', status, domain, memory_type, count(*) FROM agent_memories
			WHERE app_id = $1 GROUP BY status, domain, memory_type
		UNION ALL SELECT 'vectors', status, vector_state, '', count(*) FROM agent_memories
			WHERE app_id = $1 AND vector_state IN ('pending', 'removing') GROUP BY status, vector_state
		UNION ALL SELECT 'turns', status, '', '', count(*) FROM turns WHERE app_id = $1 GROUP BY status
		UNION ALL SELECT 'candidates', verdict, '', '', count(*) FROM candidates WHERE app_id = $1 GROUP BY verdict`, appID)
	if err != nil {
		return db.Stats{}, s.fault(err, "count the app's rows")
	}
	return rowcodec.StatsOf(counts), nil
}

// VectorBacklog counts the whole outbox towards the vector store.
func (s *Store) VectorBacklog(ctx context.Context) (db.Backlog, error) {
	b, _, err := first(ctx, s.conn, func(b *db.Backlog) []any { return []any{&b.Pending, &b.Removing, &b.Oldest} }, `
		SELECT count(*) FILTER (WHERE vector_state = 'pending'), count(*) FILTER (WHERE vector_state = 'removing'),
		min(vector_since)
		FROM agent_memories WHERE vector_state IN ('pending', 'removing')`)
	return b, s.fault(err, "count the pushes that wait")
}

// CountActive counts the owner's active memories.
func (s *Store) CountActive(ctx context.Context, owner memory.Owner) (int, error) {
	n, _, err := first(ctx, s.conn, only[int], `SELECT count(*) FROM agent_memories{| INDEXED BY agent_memories_documents}
		WHERE app_id = $1 AND user_id = $2 AND status = 'active'`, owner.AppID, owner.UserID)
	return n, s.fault(err, "count the user's memories")
}

// OwnerAges calls f with the id and age of each of the owner's active memories.
func (s *Store) OwnerAges(ctx context.Context, owner memory.Owner, f func(id string, a db.Age) error) error {
	var id string
	var a db.Age
	var refused error
	err := s.each(ctx, append(ageFields(&a), &id), func() error {
		refused = f(id, a)
		return refused
	}, `SELECT `+ageColumns+`, id FROM agent_memories{| INDEXED BY agent_memories_documents}
		WHERE app_id = $1 AND user_id = $2 AND status = 'active'`, owner.AppID, owner.UserID)
	if refused != nil {
		return refused
	}
	return s.fault(err, "read the ages of the user's memories")
}
