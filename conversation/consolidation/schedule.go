package consolidation

import (
	"context"
	"errors"

	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/internal/memory"
)

// RunAll consolidates the stated events of all conversations, and retries pending
// and failed consolidations. A failure for one conversation does not stop the
// run; the error then comes at the end. The run stops if ctx ends, or if a store
// or the model is unavailable for several conversations in a row.
func (s *Service) RunAll(ctx context.Context) (done Totals, err error) {
	var run run
	for c, err := range db.All(page, func(last memory.Conversation, limit int) ([]memory.Conversation, error) {
		return s.Records.Unconsolidated(ctx, last, limit)
	}) {
		if err != nil {
			return done, err
		}
		_, err = s.plan(ctx, c, memory.TriggerSchedule, nil)
		if run.note(ctx, err) {
			return done, run.err()
		}
	}
	for one, err := range db.All(page, func(last memory.Consolidation, limit int) ([]memory.Consolidation, error) {
		after := db.Position{At: last.CreatedAt, ID: last.ID}
		return s.Records.DueConsolidations(ctx, s.Now(), s.set.Attempts, after, limit)
	}) {
		if err != nil {
			return done, err
		}
		state, err := s.attempt(ctx, one)
		if errors.Is(err, db.ErrConsolidating) {
			continue // the process that works on the conversation continues with this row
		}
		if run.note(ctx, err) {
			return done, run.err()
		}
		done.count(state)
	}
	return done, run.err()
}

// EndIdle ends the conversations that have had no turn for Settings.Idle. It
// treats failures as RunAll does.
func (s *Service) EndIdle(ctx context.Context) (done Totals, err error) {
	before := s.Now().Add(-s.set.Idle)
	var run run
	for {
		idle, err := s.Records.Idle(ctx, before, page)
		if err != nil {
			return done, err
		}
		ended := done.Ended
		for _, c := range idle {
			err := s.endIdle(ctx, c)
			if run.note(ctx, err) {
				return done, run.err()
			}
			if err == nil {
				done.Ended++
			}
		}
		if len(idle) < page || ended == done.Ended {
			return done, run.err()
		}
	}
}

// endIdle ends an idle conversation. ErrConversationChanged: it is no longer idle.
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

// maxUnavailable is the number of conversations in a row for which a part may be unavailable.
const maxUnavailable = 10

// run collects the failures of a run over all conversations.
type run struct {
	failures    jobs.Failures
	unavailable int // in a row
}

// note counts the result of one conversation, and reports whether the run must stop. One KindUnavailable does not stop
// the run: an endpoint may also reject the content of a single conversation with that kind of error. A quota concerns
// one app, and is no failure: the next run tries again.
func (r *run) note(ctx context.Context, err error) (stop bool) {
	if memory.LimitOf(err) != "" && ctx.Err() == nil {
		return false
	}
	if memory.IsKind(err, memory.KindUnavailable) {
		r.unavailable++
	} else {
		r.unavailable = 0
	}
	if gone(err) || errors.Is(err, db.ErrConversationChanged) {
		err = nil
	}
	r.failures.Note(err)
	return err != nil && (ctx.Err() != nil || r.unavailable == maxUnavailable)
}

func (r *run) err() error { return r.failures.Err("conversations") }
