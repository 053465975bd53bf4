package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Stats counts one app's rows.
func (s *Store) Stats(ctx context.Context, appID string) (db.Stats, error) {
	stats := db.Stats{
		Memories: map[memory.Status]int{}, Domains: map[memory.Domain]int{}, Types: map[memory.Type]int{},
		Turns: map[memory.TurnStatus]int{}, Candidates: map[memory.Verdict]int{}, Vectors: map[memory.VectorState]int{},
	}
	rows, _ := s.pool.Query(ctx, `
		SELECT 'users', '', count(DISTINCT user_id) FROM agent_memories WHERE app_id = $1
		UNION ALL SELECT 'memories', status, count(*) FROM agent_memories WHERE app_id = $1 GROUP BY status
		UNION ALL SELECT 'domains', domain, count(*) FROM agent_memories WHERE app_id = $1 AND status = 'active' GROUP BY domain
		UNION ALL SELECT 'types', memory_type, count(*) FROM agent_memories WHERE app_id = $1 AND status = 'active' GROUP BY memory_type
		UNION ALL SELECT 'vectors', vector_state, count(*) FROM agent_memories WHERE app_id = $1 GROUP BY vector_state
		UNION ALL SELECT 'turns', status, count(*) FROM turns WHERE app_id = $1 GROUP BY status
		UNION ALL SELECT 'candidates', verdict, count(*) FROM candidates WHERE app_id = $1 GROUP BY verdict`, appID)
	var what, kind string
	var n int
	_, err := pgx.ForEachRow(rows, []any{&what, &kind, &n}, func() error {
		switch what {
		case "users":
			stats.Users = n
		case "memories":
			stats.Memories[memory.Status(kind)] = n
		case "domains":
			stats.Domains[memory.Domain(kind)] = n
		case "types":
			stats.Types[memory.Type(kind)] = n
		case "vectors":
			stats.Vectors[memory.VectorState(kind)] = n
		case "turns":
			stats.Turns[memory.TurnStatus(kind)] = n
		case "candidates":
			stats.Candidates[memory.Verdict(kind)] = n
		}
		return nil
	})
	if err != nil {
		return db.Stats{}, fault(err, "count the app's rows")
	}
	return stats, nil
}

// VectorBacklog counts the whole outbox towards the vector store.
func (s *Store) VectorBacklog(ctx context.Context) (db.Backlog, error) {
	var b db.Backlog
	err := s.pool.QueryRow(ctx, `
		SELECT count(*) FILTER (WHERE vector_state = 'pending'), count(*) FILTER (WHERE vector_state = 'removing'),
			coalesce(min(vector_since), '0001-01-01 00:00:00Z')
		FROM agent_memories WHERE vector_state IN ('pending', 'removing')`).Scan(&b.Pending, &b.Removing, &b.Oldest)
	if err != nil {
		return db.Backlog{}, fault(err, "count the pushes that wait")
	}
	return b, nil
}
