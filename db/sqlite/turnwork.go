package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// StartTurn loads a turn of any app and renews its due time if it is accepted.
func (s *Store) StartTurn(ctx context.Context, turnID string, due time.Time) (t memory.Turn, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		t, err = one(ctx, tx, turnFields, `
			UPDATE turns SET due_at = CASE WHEN status = 'accepted' THEN ? ELSE due_at END
			WHERE id = ? RETURNING `+turnColumns, moment(due), turnID)
		return err
	})
	if err = fault(err, "start the turn"); memory.IsKind(err, memory.KindNotFound) {
		return t, notFound("turn", turnID)
	}
	return t, err
}

// RenewTurns moves the due time of those turns that are still accepted.
func (s *Store) RenewTurns(ctx context.Context, turnIDs []string, due time.Time) error {
	_, err := s.exec(ctx, `UPDATE turns SET due_at = ?
		WHERE id IN (SELECT value FROM json_each(?)) AND status = 'accepted'`, moment(due), list(turnIDs))
	return fault(err, "renew the turns")
}

// DeferTurn records an attempt that failed; the turn stays accepted.
func (s *Store) DeferTurn(ctx context.Context, turnID string, attempts int, lastError string, due time.Time, refused *memory.Candidate) error {
	return s.recordAttempt(ctx, turnID, time.Time{}, refused, `
		UPDATE turns SET attempts = ?, last_error = ?, due_at = ?
		WHERE id = ? AND status = 'accepted' RETURNING `+withoutMessages,
		attempts, rowcodec.Storable(lastError), moment(due), turnID)
}

// FailTurn records the last attempt of a turn that is given up.
func (s *Store) FailTurn(ctx context.Context, turnID string, attempts int, lastError string, at time.Time, refused *memory.Candidate) error {
	return s.recordAttempt(ctx, turnID, at, refused, `
		UPDATE turns SET attempts = ?, last_error = ?, status = 'failed'
		WHERE id = ? AND status = 'accepted' RETURNING `+withoutMessages,
		attempts, rowcodec.Storable(lastError), turnID)
}

// recordAttempt runs an update of an accepted turn, which returns it, announces
// its failure where it has failed at an instant, and keeps the refused candidate
// beside it. It leaves any other turn alone.
func (s *Store) recordAttempt(ctx context.Context, turnID string, failed time.Time, refused *memory.Candidate, update string, args ...any) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		t, err := one(ctx, tx, turnFields, update, args...)
		if errors.Is(err, sql.ErrNoRows) {
			_, err = one(ctx, tx, turnFields, `SELECT `+turnColumns+` FROM turns WHERE id = ?`, turnID)
			return err
		}
		if err == nil && !failed.IsZero() {
			err = announce(ctx, tx, t.Owner, rowcodec.FailedTurn(t, failed))
		}
		if err != nil || refused == nil {
			return err
		}
		kept := *refused
		kept.TurnID = turnID
		return addCandidates(ctx, tx, t.Owner, []memory.Candidate{kept})
	})
	if err = fault(err, "record the attempt at the turn"); memory.IsKind(err, memory.KindNotFound) {
		return notFound("turn", turnID)
	}
	return err
}

// EndTurns makes accepted turns of which nothing is kept processed.
func (s *Store) EndTurns(ctx context.Context, turnIDs []string, at time.Time) error {
	_, err := s.exec(ctx, `UPDATE turns SET status = 'processed', attempts = attempts + 1, last_error = '', processed_at = ?
		WHERE id IN (SELECT value FROM json_each(?)) AND status = 'accepted'`, moment(at), list(turnIDs))
	return fault(err, "end the turns")
}

// ReplayTurn makes a failed or accepted turn accepted, queued and due again, with its job.
func (s *Store) ReplayTurn(ctx context.Context, appID, turnID string, at, due time.Time, job db.Job) (t memory.Turn, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		t, err = one(ctx, tx, turnFields, `
			UPDATE turns SET status = 'accepted', attempts = 0, last_error = '', queued_at = ?, due_at = ?
			WHERE id = ? AND app_id = ? AND status <> 'processed' RETURNING `+turnColumns,
			moment(at), moment(due), turnID, appID)
		if errors.Is(err, sql.ErrNoRows) {
			if _, err = one(ctx, tx, turnFields, `SELECT `+turnColumns+` FROM turns WHERE id = ? AND app_id = ?`, turnID, appID); err == nil {
				return memory.Errorf(memory.KindConflict, "turn %s has been processed: there is nothing to replay", turnID)
			}
		}
		if err == nil {
			err = refuseErasing(ctx, tx, t.Owner)
		}
		if err != nil {
			return err
		}
		_, err = s.jobs.InsertTx(ctx, tx, job, nil)
		return err
	})
	if err = fault(err, "replay the turn"); memory.IsKind(err, memory.KindNotFound) {
		return t, notFound("turn", turnID)
	}
	return t, err
}

// ResumeTurns takes overdue turns and enqueues a job for each.
func (s *Store) ResumeTurns(ctx context.Context, now, due time.Time, limit int, job func(turnID string) db.Job) (int, error) {
	n, err := s.enqueue(ctx, job, `
		UPDATE turns SET due_at = ? WHERE id IN (
			SELECT id FROM turns WHERE status = 'accepted' AND due_at < ? ORDER BY due_at LIMIT ?)
		RETURNING id`, moment(due), moment(now), limit)
	return n, fault(err, "resume overdue turns")
}

// EnqueueTurns enqueues a job for each of the turns that are accepted.
func (s *Store) EnqueueTurns(ctx context.Context, turnIDs []string, due time.Time, job func(turnID string) db.Job) (int, error) {
	n, err := s.enqueue(ctx, job, `
		UPDATE turns SET due_at = ? WHERE id IN (SELECT value FROM json_each(?)) AND status = 'accepted' RETURNING id`,
		moment(due), list(turnIDs))
	return n, fault(err, "enqueue the turns")
}

// enqueue runs an update that returns ids of turns, and enqueues a job for each.
func (s *Store) enqueue(ctx context.Context, job func(turnID string) db.Job, update string, args ...any) (n int, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		ids, err := collect(ctx, tx, func(id *string) []any { return []any{id} }, update, args...)
		if n = len(ids); err != nil || n == 0 {
			return err
		}
		jobs := make([]river.InsertManyParams, n)
		for i, id := range ids {
			jobs[i].Args = job(id)
		}
		_, err = s.jobs.InsertManyTx(ctx, tx, jobs)
		return err
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}
