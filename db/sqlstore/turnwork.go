package sqlstore

import (
	"context"
	"time"

	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

func (s *Store) LongestDue(ctx context.Context) (time.Time, error) {
	due, _, err := first(ctx, s.conn, only[time.Time], `SELECT min(due_at) FROM turns WHERE status = 'accepted'`)
	return due, s.fault(err, "find the turn that is due first")
}

func (s *Store) DeferTurn(ctx context.Context, turnID string, attempts int, lastError string, due time.Time,
	refused *memory.Candidate) error {
	return s.recordAttempt(ctx, turnID, time.Time{}, refused, `due_at = $4`, attempts, rowcodec.Storable(lastError), due)
}

func (s *Store) FailTurn(ctx context.Context, turnID string, attempts int, lastError string, at time.Time,
	refused *memory.Candidate) error {
	return s.recordAttempt(ctx, turnID, at, refused, `status = 'failed'`, attempts, rowcodec.Storable(lastError))
}

// recordAttempt stores the attempts and the error, which are the first of args, and another change of an accepted turn.
// It announces the failure unless failed is zero, and stores the refused candidate. It leaves any other turn alone.
func (s *Store) recordAttempt(
	ctx context.Context, turnID string, failed time.Time, refused *memory.Candidate, change string, args ...any,
) error {
	if !memory.IsID(turnID) {
		return NotFound("turn", turnID)
	}
	err := s.transact(ctx, func(tx tx) error {
		t, ok, err := first(ctx, tx.conn, turnFields, `UPDATE turns SET attempts = $2, last_error = $3, `+change+`
			WHERE id = $1 AND {|+}status = 'accepted' RETURNING `+withoutMessages, append([]any{turnID}, args...)...)
		if err == nil && !ok {
			_, ok, err = first(ctx, tx.conn, only[bool], `SELECT true FROM turns WHERE id = $1`, turnID)
			return s.require(ok, err, "read the turn", NotFound("turn", turnID))
		}
		if err == nil && !failed.IsZero() {
			err = tx.announce(ctx, t.Owner, failedTurn(t, failed))
		}
		if err != nil || refused == nil {
			return err
		}
		kept := *refused
		kept.TurnID = turnID
		return tx.addCandidates(ctx, t.Owner, kept)
	})
	return s.fault(err, "record the attempt at the turn")
}

func (s *Store) ReplayTurn(ctx context.Context, appID, turnID string, at time.Time) (t memory.Turn, err error) {
	if !memory.IsID(turnID) {
		return t, NotFound("turn", turnID)
	}
	err = s.transact(ctx, func(tx tx) error {
		var ok bool
		t, ok, err = first(ctx, tx.conn, turnFields, `
			UPDATE turns SET status = 'accepted', attempts = 0, last_error = '', queued_at = $3, due_at = $3
			WHERE id = $1 AND {|+}app_id = $2 AND status IN ('accepted', 'failed') RETURNING `+TurnColumns, turnID, appID, at)
		if err == nil && !ok {
			var status memory.TurnStatus
			if status, err = turnStatus(ctx, tx.conn, appID, turnID); err == nil {
				err = memory.Errorf(memory.KindConflict, "turn %s has been %s: there is nothing to replay", turnID, status)
			}
		}
		if err != nil {
			return err
		}
		return s.Admit(ctx, tx.on, t.Owner)
	})
	return t, s.fault(err, "replay the turn")
}
