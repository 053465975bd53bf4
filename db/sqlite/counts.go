package sqlite

import (
	"context"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Stats counts one app's rows.
func (s *Store) Stats(ctx context.Context, appID string) (db.Stats, error) {
	stats := db.Stats{
		Memories: map[memory.Status]int{}, Domains: map[memory.Domain]int{}, Types: map[memory.Type]int{},
		Turns: map[memory.TurnStatus]int{}, Candidates: map[memory.Verdict]int{}, Vectors: map[memory.VectorState]int{},
	}
	type count struct {
		what, kind string
		n          int
	}
	counts, err := collect(ctx, s.reader, func(c *count) []any { return []any{&c.what, &c.kind, &c.n} }, `
		SELECT 'users', '', count(DISTINCT user_id) FROM agent_memories WHERE app_id = ?1
		UNION ALL SELECT 'memories', status, count(*) FROM agent_memories WHERE app_id = ?1 GROUP BY status
		UNION ALL SELECT 'domains', domain, count(*) FROM agent_memories WHERE app_id = ?1 AND status = 'active' GROUP BY domain
		UNION ALL SELECT 'types', memory_type, count(*) FROM agent_memories WHERE app_id = ?1 AND status = 'active' GROUP BY memory_type
		UNION ALL SELECT 'vectors', vector_state, count(*) FROM agent_memories WHERE app_id = ?1 GROUP BY vector_state
		UNION ALL SELECT 'turns', status, count(*) FROM turns WHERE app_id = ?1 GROUP BY status
		UNION ALL SELECT 'candidates', verdict, count(*) FROM candidates WHERE app_id = ?1 GROUP BY verdict`, appID)
	if err != nil {
		return db.Stats{}, fault(err, "count the app's rows")
	}
	for _, c := range counts {
		switch c.what {
		case "users":
			stats.Users = c.n
		case "memories":
			stats.Memories[memory.Status(c.kind)] = c.n
		case "domains":
			stats.Domains[memory.Domain(c.kind)] = c.n
		case "types":
			stats.Types[memory.Type(c.kind)] = c.n
		case "vectors":
			stats.Vectors[memory.VectorState(c.kind)] = c.n
		case "turns":
			stats.Turns[memory.TurnStatus(c.kind)] = c.n
		case "candidates":
			stats.Candidates[memory.Verdict(c.kind)] = c.n
		}
	}
	return stats, nil
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
