package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// ClaimTurns takes accepted turns that are due.
func (s *Store) ClaimTurns(ctx context.Context, now, due time.Time, limit int) (turns []memory.Turn, err error) {
	batch := &pgx.Batch{} // one implicit transaction
	batch.Queue(asyncCommit)
	batch.Queue(`
		UPDATE turns SET due_at = $2 WHERE id = ANY(ARRAY(
			SELECT id FROM turns WHERE status = 'accepted' AND due_at <= $1
			ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED))
		RETURNING `+turnColumns, now, due, limit).Query(func(rows pgx.Rows) (err error) {
		turns, err = pgx.CollectRows(rows, scanTurn)
		return err
	})
	err = s.pool.SendBatch(ctx, batch).Close()
	return turns, fault(err, "claim due turns")
}

// RenewTurns sets the due time of those turns that are still accepted.
func (s *Store) RenewTurns(ctx context.Context, turnIDs []string, due time.Time) error {
	err := s.execAsync(ctx, `
		WITH mine AS (SELECT id FROM turns WHERE id = `+amongFirst+` AND status = 'accepted' ORDER BY id FOR UPDATE)
		UPDATE turns SET due_at = $2 FROM mine WHERE turns.id = mine.id`, onlyIDs(turnIDs), due)
	return fault(err, "renew the turns")
}

// DeferTurn records an attempt that failed; the turn stays accepted.
func (s *Store) DeferTurn(ctx context.Context, turnID string, attempts int, lastError string, due time.Time,
	refused *memory.Candidate) error {
	return s.recordAttempt(ctx, turnID, time.Time{}, refused, `
		UPDATE turns SET attempts = $2, last_error = $3, due_at = $4
		WHERE id = $1 AND status = 'accepted' RETURNING `+withoutMessages,
		turnID, attempts, rowcodec.Storable(lastError), due)
}

// FailTurn records the last attempt of a turn that is given up.
func (s *Store) FailTurn(ctx context.Context, turnID string, attempts int, lastError string, at time.Time,
	refused *memory.Candidate) error {
	return s.recordAttempt(ctx, turnID, at, refused, `
		UPDATE turns SET attempts = $2, last_error = $3, status = 'failed'
		WHERE id = $1 AND status = 'accepted' RETURNING `+withoutMessages, turnID, attempts, rowcodec.Storable(lastError))
}

// recordAttempt runs an update of an accepted turn, which returns it, announces
// its failure where it has failed at an instant, and keeps the refused candidate
// with it. It leaves any other turn alone.
func (s *Store) recordAttempt(ctx context.Context, turnID string, failed time.Time, refused *memory.Candidate,
	update string, args ...any) error {
	if !memory.IsID(turnID) {
		return notFound("turn", turnID)
	}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		t, err := turn(ctx, tx, update, args...)
		if errors.Is(err, pgx.ErrNoRows) {
			_, err = turn(ctx, tx, `SELECT `+turnColumns+` FROM turns WHERE id = $1`, turnID)
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

// EndTurns marks accepted turns that yield nothing as processed.
func (s *Store) EndTurns(ctx context.Context, turnIDs []string, at time.Time) error {
	err := s.execAsync(ctx, `
		WITH mine AS (SELECT id FROM turns WHERE id = `+amongFirst+` AND status = 'accepted' ORDER BY id FOR UPDATE)
		UPDATE turns SET status = 'processed', attempts = attempts + 1, last_error = '', processed_at = $2
		FROM mine WHERE turns.id = mine.id`, onlyIDs(turnIDs), at)
	return fault(err, "end the turns")
}

// ReplayTurn makes a failed or accepted turn accepted and due.
func (s *Store) ReplayTurn(ctx context.Context, appID, turnID string, at time.Time) (t memory.Turn, err error) {
	if !memory.IsID(turnID) {
		return t, notFound("turn", turnID)
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		t, err = turn(ctx, tx, `
			UPDATE turns SET status = 'accepted', attempts = 0, last_error = '', queued_at = $3, due_at = $3
			WHERE id = $1 AND app_id = $2 AND status <> 'processed' RETURNING `+turnColumns, turnID, appID, at)
		if errors.Is(err, pgx.ErrNoRows) {
			_, err = turn(ctx, tx, `SELECT `+turnColumns+` FROM turns WHERE id = $1 AND app_id = $2`, turnID, appID)
			if err == nil {
				return memory.Errorf(memory.KindConflict, "turn %s has been processed: there is nothing to replay", turnID)
			}
		}
		if err != nil {
			return err
		}
		return admit(ctx, tx, lockShared, rowcodec.TurnsLock(t.Owner), t.Owner)
	})
	if err = fault(err, "replay the turn"); memory.IsKind(err, memory.KindNotFound) {
		return t, notFound("turn", turnID)
	}
	return t, err
}
