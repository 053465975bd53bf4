package sqlstore

import (
	"context"
	"strconv"
	"time"

	"hippocampus/db"
)

// void is a statement of VoidLeases. Parameters: now, the latest end of a lease, the greatest number of rows.
type void struct {
	sql     string
	longest func(db.Longest) time.Duration
}

func turnLease(l db.Longest) time.Duration          { return l.Turn }
func pushLease(l db.Longest) time.Duration          { return l.Push }
func consolidationLease(l db.Longest) time.Duration { return l.Consolidation }
func reembeddingLease(l db.Longest) time.Duration   { return l.Reembedding }

var voids = []void{
	{`UPDATE turns SET due_at = $1 WHERE id IN (SELECT id FROM turns WHERE status = 'accepted' AND due_at > $2 LIMIT $3)`,
		turnLease},
	{`UPDATE agent_memories SET vector_due = $1 WHERE id IN (SELECT id FROM agent_memories
		WHERE vector_state IN ('pending', 'removing') AND vector_due > $2 LIMIT $3)`, pushLease},
	{`UPDATE agent_memories SET vector_claimed_until = $1 WHERE id IN (
		SELECT id FROM agent_memories{| INDEXED BY agent_memories_outbox}
		WHERE vector_state IN ('pending', 'removing') AND vector_claimed_until > $2 LIMIT $3)`, pushLease},
	{`UPDATE consolidation_jobs SET claimed_until = $1 WHERE id IN (
		SELECT id FROM consolidation_jobs{| INDEXED BY consolidation_jobs_due}
		WHERE state IN ('pending', 'failed') AND claimed_until > $2{| AND created_at > 0} LIMIT $3)`, consolidationLease},
	{`UPDATE serving SET held_until = $1 WHERE held_until > $2 AND $3 > 0`, reembeddingLease},
}

// A job may be due much later after many failures, so that only its creation shows that
// the clock was ahead.
var (
	maxSkewSeconds = strconv.Itoa(int(db.MaxSkew.Seconds()))
	voidJobs       = `UPDATE river_job SET scheduled_at = {now()|strftime('%Y-%m-%d %H:%M:%f', 'now')}
		WHERE state IN ('available', 'scheduled', 'retryable') AND {created_at|julianday(created_at)} >
			{now() + make_interval(secs => ` + maxSkewSeconds + `)|julianday('now', '+` + maxSkewSeconds + ` seconds')}
			AND {scheduled_at > now()|julianday(scheduled_at) > julianday('now')}`
)

// voidedAtOnce limits the rows of one statement.
const voidedAtOnce = 1000

func (s *Store) VoidLeases(ctx context.Context, now time.Time, longest db.Longest) (voided int, err error) {
	for _, v := range voids {
		latest := now.Add(v.longest(longest) + db.MaxSkew)
		for n := voidedAtOnce; n == voidedAtOnce; voided += n {
			if n, err = s.exec(ctx, v.sql, now, latest, voidedAtOnce); err != nil {
				return voided, s.fault(err, "void leases that end in the future")
			}
		}
	}
	n, err := s.exec(ctx, voidJobs)
	return voided + n, s.fault(err, "make jobs due that are due in the future")
}
