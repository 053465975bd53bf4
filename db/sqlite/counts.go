package sqlite

import (
	"context"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
)

// Stats counts one app's rows.
func (s *Store) Stats(ctx context.Context, appID string) (db.Stats, error) {
	counts, err := collect(ctx, s.reader, func(c *rowcodec.Count) []any { return []any{&c.What, &c.By[0], &c.By[1], &c.By[2], &c.N} }, `
		SELECT 'users', '', '', '', count(*) FROM (SELECT DISTINCT user_id FROM agent_memories WHERE app_id = ?1) AS of_app
		UNION ALL SELECT 'memories', status, domain, memory_type, count(*) FROM agent_memories WHERE app_id = ?1 GROUP BY status, domain, memory_type
		UNION ALL SELECT 'vectors', status, vector_state, '', count(*) FROM agent_memories
			WHERE app_id = ?1 AND vector_state IN ('pending', 'removing') GROUP BY status, vector_state
		UNION ALL SELECT 'turns', status, '', '', count(*) FROM turns WHERE app_id = ?1 GROUP BY status
		UNION ALL SELECT 'candidates', verdict, '', '', count(*) FROM candidates WHERE app_id = ?1 GROUP BY verdict`, appID)
	if err != nil {
		return db.Stats{}, fault(err, "count the app's rows")
	}
	return rowcodec.StatsOf(counts), nil
}

// VectorBacklog counts the whole outbox towards the vector store.
func (s *Store) VectorBacklog(ctx context.Context) (db.Backlog, error) {
	var b db.Backlog
	err := s.reader.QueryRowContext(ctx, `
		SELECT count(*) FILTER (WHERE vector_state = 'pending'), count(*) FILTER (WHERE vector_state = 'removing'), min(vector_since)
		FROM agent_memories WHERE vector_state IN ('pending', 'removing')`).Scan(&b.Pending, &b.Removing, (*instant)(&b.Oldest))
	if err != nil {
		return db.Backlog{}, fault(err, "count the pushes that wait")
	}
	return b, nil
}
