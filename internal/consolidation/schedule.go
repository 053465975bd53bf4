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
// model is away, or ctx ends, it comes at once.
func (s *Service) RunAll(ctx context.Context) (done Totals, err error) {
	var failures []error
	note := func(err error) (end bool) {
		if err == nil || gone(err) {
			return false
		}
		failures = append(failures[:min(len(failures), maxFailures)], err)
		return ctx.Err() != nil || memory.IsKind(err, memory.KindUnavailable)
	}
	for last := (memory.Conversation{}); ; {
		open, err := s.Records.Unconsolidated(ctx, last, page)
		if err != nil {
			return done, err
		}
		for _, c := range open {
			if _, err := s.plan(ctx, c, memory.TriggerSchedule); note(err) {
				return done, err
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
			if note(err) {
				return done, err
			}
			done.count(state)
		}
		if len(due) < page {
			break
		}
	}
	if len(failures) > 0 {
		return done, fmt.Errorf("some conversations could not be consolidated: %w", errors.Join(failures...))
	}
	return done, nil
}

// maxFailures is how many errors a run tells of.
const maxFailures = 10

// EndIdle ends the conversations in which nothing has been heard for long.
func (s *Service) EndIdle(ctx context.Context) (done Totals, err error) {
	before := s.Now().Add(-s.set.Idle)
	for {
		idle, err := s.Records.Idle(ctx, before, page)
		if err != nil {
			return done, err
		}
		ended := done.Ended
		for _, c := range idle {
			_, err := s.End(ctx, c.AppID, c.UserID, c.ID, memory.TriggerIdle)
			if gone(err) {
				continue
			}
			if err != nil {
				return done, err
			}
			done.Ended++
		}
		if len(idle) < page || ended == done.Ended {
			return done, nil
		}
	}
}
