package sqlstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func (s *Store) Stats(ctx context.Context, appID string) (db.Stats, error) {
	counts, err := collect(ctx, s.long(),
		func(c *count) []any { return []any{&c.what, &c.by[0], &c.by[1], &c.by[2], &c.n} }, `
		WITH held AS MATERIALIZED (
			SELECT user_id, {domain, memory_type
				|group_concat(domain, char(10)) AS domain, group_concat(memory_type, char(10)) AS memory_type}, count(*) AS n
			FROM agent_memories{| INDEXED BY agent_memories_ages}
			WHERE app_id = $1 AND status = 'active' GROUP BY user_id{, domain, memory_type|})
		SELECT 'users', '', '', '', count(*) FROM (
			SELECT user_id FROM held UNION SELECT user_id FROM agent_memories{| INDEXED BY agent_memories_inactive}
				WHERE app_id = $1 AND status <> 'active' GROUP BY user_id) AS of_app WHERE user_id <> '`+memory.PoolUser+`'
		UNION ALL SELECT 'memories', 'active', domain, memory_type, {sum(n)::bigint|sum(n)} FROM held
			GROUP BY domain, memory_type
		UNION ALL SELECT 'memories', status, '', '', count(*) FROM agent_memories{| INDEXED BY agent_memories_inactive}
			WHERE app_id = $1 AND status <> 'active' GROUP BY status
		UNION ALL SELECT 'vectors', status, vector_state, '', count(*)
			FROM agent_memories{| INDEXED BY agent_memories_outbox}
			WHERE app_id = $1 AND vector_state IN ('pending', 'removing') GROUP BY status, vector_state
		UNION ALL SELECT 'words only', '', '', '', count(*) FROM agent_memories{| INDEXED BY agent_memories_words_only}
			WHERE app_id = $1 AND status = 'active' AND embedding_model = '' AND vector_state = 'absent'
		UNION ALL SELECT 'turns', status, '', '', count(*) FROM turns WHERE app_id = $1 GROUP BY status
		UNION ALL SELECT 'candidates', verdict, '', '', count(*) FROM candidates WHERE app_id = $1 GROUP BY verdict`, appID)
	if err != nil {
		return db.Stats{}, s.fault(err, "count the app's rows")
	}
	return statsOf(counts), nil
}

func (s *Store) ShelfLives(ctx context.Context, of memory.Owner, at time.Time) (db.ShelfLives, error) {
	query, args := `SELECT count(*), count(*) FILTER (WHERE expires_at <= $2)
		FROM agent_memories{| INDEXED BY agent_memories_shelf_lives}
		WHERE app_id = $1 AND status = 'active' AND expires_at IS NOT NULL`, []any{of.AppID, at}
	if of.UserID != "" {
		query, args = query+` AND user_id = $3`, append(args, of.UserID)
	}
	n, _, err := first(ctx, s.long(), func(n *db.ShelfLives) []any { return []any{&n.Limited, &n.Ended} }, query, args...)
	return n, s.fault(err, "count the memories that have an end")
}

func (s *Store) Usage(ctx context.Context, appID string, quotas db.Usage) (u db.Usage, err error) {
	for _, of := range []struct {
		quota int
		used  *int
		count string
	}{
		{quotas.Users, &u.Users, `SELECT count(DISTINCT user_id) FROM agent_memories{| INDEXED BY agent_memories_by_time}
			WHERE app_id = $1 AND status = 'active' AND user_id <> '` + memory.PoolUser + `'`},
		{quotas.Memories, &u.Memories, `SELECT count(*) FROM agent_memories{| INDEXED BY agent_memories_by_time}
			WHERE app_id = $1 AND status = 'active'`},
		{quotas.Bytes, &u.Bytes, `SELECT coalesce(sum(octet_length(content)), 0)
			FROM agent_memories{| INDEXED BY agent_memories_by_time} WHERE app_id = $1`},
		{quotas.Versions, &u.Versions, `SELECT (SELECT count(*) FROM memory_events WHERE app_id = $1) +
			(SELECT count(*) FROM instruction_versions WHERE app_id = $1)`},
		{quotas.Webhooks, &u.Webhooks, `SELECT count(*) FROM webhooks WHERE app_id = $1`},
	} {
		if of.quota == 0 {
			continue
		}
		if *of.used, _, err = first(ctx, s.conn, only[int], of.count, appID); err != nil {
			break
		}
	}
	return u, s.fault(err, "count what the app keeps")
}

// lastCharacter is greater than every character of an id.
const lastCharacter = "\U0010FFFF"

func (s *Store) Users(ctx context.Context, f db.UserFilter) ([]db.UserCount, error) {
	users, err := collect(ctx, s.conn, func(u *db.UserCount) []any {
		return []any{&u.UserID, &u.Memories, &u.First, &u.Last, &u.LastTurn}
	}, `SELECT user_id, n, first_at, last_at,
			(SELECT max(accepted_at) FROM turns WHERE turns.app_id = $1 AND turns.user_id = found.user_id)
		FROM (SELECT user_id, count(*) AS n, min(created_at) AS first_at, max(created_at) AS last_at
			FROM agent_memories{| INDEXED BY agent_memories_documents}
			WHERE app_id = $1 AND user_id > $2 AND user_id >= $3 AND user_id < $4 AND status = 'active' AND user_id <> $6
			GROUP BY user_id ORDER BY user_id LIMIT $5) AS found ORDER BY user_id`,
		f.AppID, f.After, f.Prefix, f.Prefix+lastCharacter, f.Limit, memory.PoolUser)
	return users, s.fault(err, "list the users")
}

func (s *Store) UserHoldings(ctx context.Context, owner memory.Owner) (db.UserHoldings, error) {
	type group struct {
		status memory.Status
		n      int
		bytes  int
	}
	held := db.UserHoldings{Memories: map[memory.Status]int{}}
	groups, err := collect(ctx, s.long(), func(g *group) []any { return []any{&g.status, &g.n, &g.bytes} }, `
		SELECT status, count(*), sum(octet_length(content)) FROM agent_memories{| INDEXED BY agent_memories_by_time}
		WHERE app_id = $1 AND user_id = $2 GROUP BY status`, owner.AppID, owner.UserID)
	for _, g := range groups {
		held.Memories[g.status] = g.n
		held.Bytes += g.bytes
	}
	if err != nil {
		return held, s.fault(err, "count the user's memories")
	}
	turns, _, err := first(ctx, s.long(), func(h *db.UserHoldings) []any { return []any{&h.Turns, &h.LastTurn} },
		`SELECT count(*), max(accepted_at) FROM turns WHERE app_id = $1 AND user_id = $2`, owner.AppID, owner.UserID)
	held.Turns, held.LastTurn = turns.Turns, turns.LastTurn
	return held, s.fault(err, "count the user's turns")
}

// count is one of the rows from which statsOf computes an app's stats:
//
//	what        by
//	users
//	memories    status, and of active ones domain and type; SQLite, which would sort all memories to group them by these,
//	            returns those of all memories of a user, one a line
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
			if status != memory.Active {
				break
			}
			each := c.n / (1 + strings.Count(c.by[1], "\n"))
			for domain := range strings.SplitSeq(c.by[1], "\n") {
				s.Domains[memory.Domain(domain)] += each
			}
			for kind := range strings.SplitSeq(c.by[2], "\n") {
				s.Types[memory.Type(kind)] += each
			}
		case "vectors":
			waiting[memory.Status(c.by[0])] += c.n
			s.Vectors[memory.VectorState(c.by[1])] += c.n
		case "words only":
			if c.n > 0 {
				waiting[memory.Active] += c.n
				s.Vectors[memory.VectorAbsent] += c.n
			}
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
