package sqlstore

import (
	"context"
	"fmt"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func (s *Store) Stats(ctx context.Context, appID string) (db.Stats, error) {
	counts, err := collect(ctx, s.long(),
		func(c *count) []any { return []any{&c.what, &c.by[0], &c.by[1], &c.by[2], &c.n} }, `
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
	return statsOf(counts), nil
}

// count is one of the rows from which statsOf computes an app's stats:
//
//	what        by
//	users
//	memories    status, domain, type
//	vectors     status of the memory, vector state; those in the outbox only
//	turns       status
//	candidates  verdict
type count struct {
	what string
	by   [3]string
	n    int
}

// statsOf adds up counts. A vector that is not in the outbox is synced if its memory
// is active, and absent otherwise.
func statsOf(counts []count) db.Stats {
	s := db.Stats{
		Memories: map[memory.Status]int{}, Domains: map[memory.Domain]int{}, Types: map[memory.Type]int{},
		Turns: map[memory.TurnStatus]int{}, Candidates: map[memory.Verdict]int{}, Vectors: map[memory.VectorState]int{},
	}
	waiting := map[memory.Status]int{}
	for _, c := range counts {
		switch c.what {
		case "users":
			s.Users = c.n
		case "memories":
			status := memory.Status(c.by[0])
			s.Memories[status] += c.n
			if status == memory.Active {
				s.Domains[memory.Domain(c.by[1])] += c.n
				s.Types[memory.Type(c.by[2])] += c.n
			}
		case "vectors":
			waiting[memory.Status(c.by[0])] += c.n
			s.Vectors[memory.VectorState(c.by[1])] += c.n
		case "turns":
			s.Turns[memory.TurnStatus(c.by[0])] = c.n
		case "candidates":
			s.Candidates[memory.Verdict(c.by[0])] = c.n
		}
	}
	for status, n := range s.Memories {
		state := memory.VectorAbsent
		if status == memory.Active {
			state = memory.VectorSynced
		}
		if rest := n - waiting[status]; rest > 0 {
			s.Vectors[state] += rest
		}
	}
	return s
}

func (s *Store) VectorBacklog(ctx context.Context, before []time.Time) (db.Backlog, error) {
	older, args := "", make([]any, len(before))
	for i, instant := range before {
		older += fmt.Sprintf(", count(*) FILTER (WHERE vector_since < $%d)", i+1)
		args[i] = instant
	}
	b, _, err := first(ctx, s.conn, func(b *db.Backlog) []any {
		fields := []any{&b.Pending, &b.Removing, &b.Oldest}
		if len(before) > 0 {
			b.Before = make([]int, len(before))
		}
		for i := range b.Before {
			fields = append(fields, &b.Before[i])
		}
		return fields
	}, `
		SELECT count(*) FILTER (WHERE vector_state = 'pending'), count(*) FILTER (WHERE vector_state = 'removing'),
		min(vector_since)`+older+`
		FROM agent_memories WHERE vector_state IN ('pending', 'removing')`, args...)
	return b, s.fault(err, "count the pushes that wait")
}

func (s *Store) CountActive(ctx context.Context, owner memory.Owner) (int, error) {
	n, _, err := first(ctx, s.conn, only[int], `SELECT count(*) FROM agent_memories{| INDEXED BY agent_memories_documents}
		WHERE app_id = $1 AND user_id = $2 AND status = 'active'`, owner.AppID, owner.UserID)
	return n, s.fault(err, "count the user's memories")
}

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
