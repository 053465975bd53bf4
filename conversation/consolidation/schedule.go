package consolidation

import (
	"context"
	"errors"
	"fmt"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// RunAll consolidates the stated events of all conversations, and tries again
// what waits or has failed. What fails for one conversation does not keep the
// others from theirs; the error then comes at the end. Where a store or the
// model is away for several in a row, or ctx ends, it comes at once.
func (s *Service) RunAll(ctx context.Context) (done Totals, err error) {
	var t troubles
	for last := (memory.Conversation{}); ; {
		open, err := s.Records.Unconsolidated(ctx, last, page)
		if err != nil {
			return done, err
		}
		for _, c := range open {
			if _, err := s.plan(ctx, c, memory.TriggerSchedule); t.note(ctx, err) {
				return done, t.err()
			}
			last = c
		}
		if len(open) < page {
			break
		}
	}
	for after := (db.Position{}); ; {
		due, err := s.Records.DueConsolidations(ctx, s.Now(), s.set.Attempts, after, page)
		if err != nil {
			return done, err
		}
		for _, one := range due {
			after = db.Position{At: one.CreatedAt, ID: one.ID}
			state, err := s.attempt(ctx, one)
			if errors.Is(err, db.ErrConsolidating) {
				continue // whoever is at it goes on with this one
			}
			if t.note(ctx, err) {
				return done, t.err()
			}
			done.count(state)
		}
		if len(due) < page {
			break
		}
	}
	return done, t.err()
}

// EndIdle ends the conversations in which nothing has been heard for long. What
// fails for one does not keep the others from their end, as with RunAll.
func (s *Service) EndIdle(ctx context.Context) (done Totals, err error) {
	before := s.Now().Add(-s.set.Idle)
	var t troubles
	for {
		idle, err := s.Records.Idle(ctx, before, page)
		if err != nil {
			return done, err
		}
		ended := done.Ended
		for _, c := range idle {
			err := s.endIdle(ctx, c)
			if t.note(ctx, err) {
				return done, t.err()
			}
			if err == nil {
				done.Ended++
			}
		}
		if len(idle) < page || ended == done.Ended {
			return done, t.err()
		}
	}
}

// endIdle ends a conversation that was found idle. ErrConversationChanged: it is no longer.
func (s *Service) endIdle(ctx context.Context, c memory.Conversation) error {
	now, err := s.Records.Conversation(ctx, c.AppID, c.UserID, c.ID)
	if err != nil {
		return err
	}
	if !now.SameEvents(c) {
		return db.ErrConversationChanged // before anything is planned
	}
	_, err = s.endAs(ctx, c, memory.TriggerIdle)
	return err
}

const (
	maxTroubles = 10 // errors that a run tells of
	maxAway     = 10 // conversations in a row for which something is away: then it is for all
)

// troubles are what went wrong for some conversations of a run over all of them.
type troubles struct {
	errs []error
	away int // in a row
}

// note takes what came of one conversation, and reports whether the run is to
// end. One that something is away for is not enough: an endpoint answers so, too,
// where it will not hear of what that one says.
func (t *troubles) note(ctx context.Context, err error) (end bool) {
	if t.away++; !memory.IsKind(err, memory.KindUnavailable) {
		t.away = 0
	}
	if err == nil || gone(err) || errors.Is(err, db.ErrConversationChanged) {
		return false
	}
	t.errs = append(t.errs[:min(len(t.errs), maxTroubles-1)], err)
	return ctx.Err() != nil || t.away == maxAway
}

func (t *troubles) err() error {
	if len(t.errs) == 0 {
		return nil
	}
	return fmt.Errorf("some conversations could not be consolidated: %w", errors.Join(t.errs...))
}
