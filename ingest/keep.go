package ingest

import (
	"context"
	"errors"
	"slices"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// keep stores the messages of a turn, which can then be recalled whatever the scorer answers, and returns those that
// were not forgotten since. A turn that is processed again finds them stored.
func (s *Service) keep(ctx context.Context, turn memory.Turn, messages []memory.Memory) ([]memory.Memory, error) {
	stored, err := s.stored(ctx, turn, messages)
	if err != nil {
		return nil, err
	}
	if stored != nil {
		return stored, s.embedStored(ctx, stored)
	}
	complete, kept, err := s.completeOrKeep(ctx, turn, messages, nil)
	if err != nil {
		return nil, err
	}
	if !kept {
		var lost []memory.Omission
		complete, lost = withoutLost(complete)
		turn.LeftOut = inOrder(turn.LeftOut, lost)
		if err = s.storeMessages(ctx, turn, complete); err == nil {
			return complete, nil
		}
	}
	if kept || memory.IsKind(err, memory.KindConflict) { // or another worker has stored them
		if stored, storedErr := s.stored(ctx, turn, messages); storedErr != nil || stored != nil {
			return stored, storedErr
		}
	}
	return complete, err
}

// stored returns those messages of a turn that are stored and were not forgotten; nil: no message is stored.
func (s *Service) stored(ctx context.Context, turn memory.Turn, messages []memory.Memory) (
	stored []memory.Memory, err error,
) {
	for _, draft := range messages {
		m, err := s.Records.Memory(ctx, turn.AppID, draft.ID)
		if memory.IsKind(err, memory.KindNotFound) {
			continue // the embedder refuses it
		}
		if err != nil {
			return nil, err
		}
		stored = append(stored, m)
	}
	isForgotten := func(m memory.Memory) bool { return m.Status == memory.Forgotten }
	return slices.DeleteFunc(stored, isForgotten), nil
}

// writeToStored writes the candidates of a turn whose write has failed with conflict, since its messages are stored.
// They were stored while the embedder did not answer, or when a model was to be asked that is not configured any more.
func (s *Service) writeToStored(
	ctx context.Context, turn memory.Turn, candidates []memory.Candidate, messages []memory.Memory, conflict error,
) error {
	stored, err := s.stored(ctx, turn, messages)
	if err != nil {
		return err
	}
	if stored == nil {
		return conflict
	}
	if err := s.embedStored(ctx, stored); err != nil {
		return err
	}
	turn.LeftOut = nil // it is stored with the messages
	if err := s.takeBackRules(ctx, turn); err != nil {
		return err
	}
	return s.write(ctx, turn, candidates, stored, true)
}

// errKept is the conflict that the messages of a turn were stored by their words after the embedder was asked.
var errKept = memory.Errorf(memory.KindConflict, "the messages of the turn are stored")

// errReadAgain rolls back a transaction of a turn if the user has forgotten a part of the turn since it was read.
var errReadAgain = errors.New("a part of the turn was forgotten since it was read")

// isAsRead returns errFinished if a turn is no longer accepted, and errReadAgain if more of it is withheld than before.
func isAsRead(ctx context.Context, tx db.UserTx, read memory.Turn) error {
	turn, ok, err := tx.RecordedTurn(ctx, read.ID)
	switch {
	case err != nil:
		return err
	case !ok || turn.Status != memory.TurnAccepted:
		return errFinished
	case forgottenOf(turn) != forgottenOf(read):
		return errReadAgain
	}
	return nil
}

// forgottenOf returns how many parts of a turn are withheld since a statement of them was forgotten.
func forgottenOf(turn memory.Turn) (n int) {
	for _, w := range turn.Withheld {
		if w.Statement != "" {
			n++
		}
	}
	return n
}
