package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// ClaimTurns takes accepted turns that are due.
func (s *Store) ClaimTurns(ctx context.Context, now, due time.Time, limit int) (turns []memory.Turn, err error) {
	err = s.writeAsync(ctx, func(tx *sql.Tx) error {
		turns, err = collect(ctx, tx, turnFields, `
			UPDATE turns SET due_at = ? WHERE id IN (
				SELECT id FROM turns WHERE status = 'accepted' AND due_at <= ? ORDER BY due_at LIMIT ?)
			RETURNING `+turnColumns, moment(due), moment(now), limit)
		return err
	})
	return turns, fault(err, "claim due turns")
}

// RenewTurns sets the due time of those turns that are still accepted.
func (s *Store) RenewTurns(ctx context.Context, turnIDs []string, due time.Time) error {
	_, err := s.exec(ctx, `UPDATE turns SET due_at = ?
		WHERE id IN (SELECT value FROM json_each(?)) AND status = 'accepted'`, moment(due), list(turnIDs))
	return fault(err, "renew the turns")
}

// DeferTurn records an attempt that failed; the turn stays accepted.
func (s *Store) DeferTurn(ctx context.Context, turnID string, attempts int, lastError string, due time.Time,
	refused *memory.Candidate) error {
	return s.recordAttempt(ctx, turnID, time.Time{}, refused, `
		UPDATE turns SET attempts = ?, last_error = ?, due_at = ?
		WHERE id = ? AND status = 'accepted' RETURNING `+withoutMessages,
		attempts, rowcodec.Storable(lastError), moment(due), turnID)
}

// FailTurn records the last attempt of a turn that is given up.
func (s *Store) FailTurn(ctx context.Context, turnID string, attempts int, lastError string, at time.Time,
	refused *memory.Candidate) error {
	return s.recordAttempt(ctx, turnID, at, refused, `
		UPDATE turns SET attempts = ?, last_error = ?, status = 'failed'
		WHERE id = ? AND status = 'accepted' RETURNING `+withoutMessages,
		attempts, rowcodec.Storable(lastError), turnID)
}

// recordAttempt runs an update of an accepted turn, which returns it, announces
// its failure where it has failed at an instant, and keeps the refused candidate
// with it. It leaves any other turn alone.
func (s *Store) recordAttempt(ctx context.Context, turnID string, failed time.Time, refused *memory.Candidate,
	update string, args ...any) error {
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

// EndTurns marks accepted turns that yield nothing as processed.
func (s *Store) EndTurns(ctx context.Context, turnIDs []string, at time.Time) error {
	_, err := s.exec(
		ctx,
		`UPDATE turns SET status = 'processed', attempts = attempts + 1, last_error = '', processed_at = ?
		WHERE id IN (SELECT value FROM json_each(?)) AND status = 'accepted'`,
		moment(at),
		list(turnIDs),
	)
	return fault(err, "end the turns")
}

// ReplayTurn makes a failed or accepted turn accepted and due.
func (s *Store) ReplayTurn(ctx context.Context, appID, turnID string, at time.Time) (t memory.Turn, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		t, err = one(ctx, tx, turnFields, `
			UPDATE turns SET status = 'accepted', attempts = 0, last_error = '', queued_at = ?, due_at = ?
			WHERE id = ? AND app_id = ? AND status <> 'processed' RETURNING `+turnColumns,
			moment(at), moment(at), turnID, appID)
		if errors.Is(err, sql.ErrNoRows) {
			_, err = one(ctx, tx, turnFields, `SELECT `+turnColumns+` FROM turns WHERE id = ? AND app_id = ?`, turnID, appID)
			if err == nil {
				return memory.Errorf(memory.KindConflict, "turn %s has been processed: there is nothing to replay", turnID)
			}
		}
		if err != nil {
			return err
		}
		return refuseErasing(ctx, tx, t.Owner)
	})
	if err = fault(err, "replay the turn"); memory.IsKind(err, memory.KindNotFound) {
		return t, notFound("turn", turnID)
	}
	return t, err
}
