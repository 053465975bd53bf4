package sqlstore

import (
	"context"
	"strconv"
	"time"

	"hippocampus/db"
)

// voids are the statements of VoidLeases. Parameters: now, the latest end of a lease, the
// greatest number of rows.
var voids = []string{
	`UPDATE turns SET due_at = $1 WHERE id IN (SELECT id FROM turns WHERE status = 'accepted' AND due_at > $2 LIMIT $3)`,
	`UPDATE agent_memories SET vector_due = $1 WHERE id IN (SELECT id FROM agent_memories
		WHERE vector_state IN ('pending', 'removing') AND vector_due > $2 LIMIT $3)`,
	`UPDATE agent_memories SET vector_claimed_until = $1 WHERE id IN (
		SELECT id FROM agent_memories{| INDEXED BY agent_memories_outbox}
		WHERE vector_state IN ('pending', 'removing') AND vector_claimed_until > $2 LIMIT $3)`,
	`UPDATE consolidation_jobs SET claimed_until = $1 WHERE id IN (
		SELECT id FROM consolidation_jobs{| INDEXED BY consolidation_jobs_due}
		WHERE state IN ('pending', 'failed') AND claimed_until > $2{| AND created_at > 0} LIMIT $3)`,
	`UPDATE serving SET held_until = $1 WHERE held_until > $2 AND $3 > 0`,
}

// A job can be due later than MaxLease after many failures, so that only its creation
// shows that the clock was ahead.
var (
	maxLeaseSeconds = strconv.Itoa(int(db.MaxLease.Seconds()))
	voidJobs        = `UPDATE river_job SET scheduled_at = {now()|strftime('%Y-%m-%d %H:%M:%f', 'now')}
		WHERE state IN ('available', 'scheduled', 'retryable') AND {created_at|julianday(created_at)} >
			{now() + make_interval(secs => ` + maxLeaseSeconds + `)|julianday('now', '+` + maxLeaseSeconds + ` seconds')}
			AND {scheduled_at > now()|julianday(scheduled_at) > julianday('now')}`
)

// voidedAtOnce limits the rows of one statement.
const voidedAtOnce = 1000

func (s *Store) VoidLeases(ctx context.Context, now time.Time) (voided int, err error) {
	for _, void := range voids {
		for n := voidedAtOnce; n == voidedAtOnce; voided += n {
			if n, err = s.exec(ctx, void, now, now.Add(db.MaxLease), voidedAtOnce); err != nil {
				return voided, s.fault(err, "void leases that end in the future")
			}
		}
	}
	n, err := s.exec(ctx, voidJobs)
	return voided + n, s.fault(err, "make jobs due that are due in the future")
}
