package consolidation

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"
	"unicode/utf8"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/internal/memory"
)

// ConsolidateConversation is the job that plans and carries out what a trigger
// asks for. One is kept for each beginning, trigger and mark.
type ConsolidateConversation struct {
	jobs.Background `json:"-"`

	AppID          string                      `json:"app_id"`
	UserID         string                      `json:"user_id"`
	ConversationID string                      `json:"conversation_id"`
	FirstTurnID    string                      `json:"began"`
	Trigger        memory.ConsolidationTrigger `json:"trigger"`
	Mark           int64                       `json:"mark"` // an event of the conversation
}

// Kind is the name that the job is stored under.
func (ConsolidateConversation) Kind() string { return "consolidate_conversation" }

// Totals is what a job or a run of the schedule did.
type Totals struct {
	Done    int `json:"done"`
	Skipped int `json:"skipped"`
	Failed  int `json:"failed"`          // attempts: the schedule tries again
	Ended   int `json:"ended,omitempty"` // idle conversations
}

func (t *Totals) count(state memory.ConsolidationState) {
	switch state {
	case memory.ConsolidationDone:
		t.Done++
	case memory.ConsolidationSkipped:
		t.Skipped++
	case memory.ConsolidationFailed:
		t.Failed++
	}
}

const (
	maxRounds = 100             // plans of one job
	busy      = 2 * time.Second // before a job looks again at a conversation that somebody else is at
)

// Work does the job. KindUnavailable: a store or the model is away, and the
// consolidation that waits for it is as it was.
func (s *Service) Work(ctx context.Context, job ConsolidateConversation) (any, error) {
	var done Totals
	for range maxRounds {
		c, err := s.Records.Conversation(ctx, job.AppID, job.UserID, job.ConversationID)
		if memory.IsKind(err, memory.KindNotFound) {
			return done, nil
		}
		if err != nil {
			return done, err
		}
		all := true
		if reasons[job.Trigger] == "" { // what an end consolidates is planned with it
			all, err = s.plan(ctx, c, job.Trigger)
		}
		if gone(err) {
			return done, nil
		}
		if err != nil {
			return done, err
		}
		pending, err := s.pending(ctx, c)
		if err != nil {
			return done, err
		}
		for _, one := range pending {
			state, err := s.attempt(ctx, one)
			if errors.Is(err, db.ErrConsolidating) {
				return done, jobs.Later(busy)
			}
			if err != nil {
				return done, err
			}
			done.count(state)
		}
		if all && len(pending) == 0 {
			return done, nil
		}
	}
	return done, nil
}

// pending lists what waits of a conversation, in the order in which it is worked.
func (s *Service) pending(ctx context.Context, c memory.Conversation) ([]memory.Consolidation, error) {
	all, err := s.Records.ListConsolidations(ctx, db.ConsolidationFilter{Owner: c.Owner, ConversationID: c.ID, Limit: page})
	all = slices.DeleteFunc(all, func(one memory.Consolidation) bool { return one.State != memory.ConsolidationPending })
	slices.SortFunc(all, func(a, b memory.Consolidation) int {
		return cmp.Or(cmp.Compare(a.Through, b.Through), cmp.Compare(slices.Index(memory.ConsolidationTypes, a.Type), slices.Index(memory.ConsolidationTypes, b.Type)))
	})
	return all, err
}

// gone reports whether work is about a conversation or user that is there no more.
func gone(err error) bool {
	return memory.IsKind(err, memory.KindNotFound) || errors.Is(err, db.ErrErasing)
}

// attempt carries out one consolidation, and returns its state then: "" where
// somebody else has ended it, or it is gone. ErrConsolidating: somebody else is
// at work on the conversation. Any other error: it is as it was.
func (s *Service) attempt(ctx context.Context, one memory.Consolidation) (memory.ConsolidationState, error) {
	now := s.Now()
	err := s.Records.InUser(ctx, one.Owner, func(ctx context.Context, tx db.UserTx) (err error) {
		one, err = tx.ClaimConsolidation(ctx, one.ID, now, now.Add(s.Lease))
		return err
	})
	if gone(err) || errors.Is(err, db.ErrConsolidated) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	state, err := s.carryOut(ctx, one)
	if gone(err) || errors.Is(err, db.ErrConsolidated) {
		return "", nil
	}
	if err != nil {
		state, err = s.setBack(ctx, one, err)
	}
	if state != "" {
		s.OnAttempt(one.Type, state)
	}
	return state, err
}

// carryOut does what a consolidation is for, and ends it.
func (s *Service) carryOut(ctx context.Context, one memory.Consolidation) (memory.ConsolidationState, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Lease) // nobody works without a claim
	defer cancel()
	switch one.Type {
	case memory.ConsolidateEvents:
		return s.keepStated(ctx, one)
	case memory.FastReplay:
		return s.replay(ctx, one)
	}
	return s.reflect(ctx, one)
}

// end makes a consolidation end in a transaction.
func (s *Service) end(ctx context.Context, tx db.UserTx, one memory.Consolidation, state memory.ConsolidationState, why string, did any) error {
	one.State, one.Error, one.EndedAt = state, why, memory.Instant(s.Now())
	if did != nil {
		one.Counts, _ = json.Marshal(did) // numbers only: cannot fail
	}
	return tx.ChangeConsolidation(ctx, one)
}

// skip ends a consolidation of which nothing can come.
func (s *Service) skip(ctx context.Context, one memory.Consolidation, why string) (memory.ConsolidationState, error) {
	return memory.ConsolidationSkipped, s.Records.InUser(ctx, one.Owner, func(ctx context.Context, tx db.UserTx) error {
		return s.end(ctx, tx, one, memory.ConsolidationSkipped, why, nil)
	})
}

const (
	setBackTimeout = 5 * time.Second // of the record of a failed attempt
	maxErrorRunes  = 1000
	patience       = 3 * 24 * time.Hour // after which what is away costs attempts
)

// setBack records a failed attempt. Something that is away costs none for some
// days; after these it is taken to be away for what this conversation says.
func (s *Service) setBack(ctx context.Context, one memory.Consolidation, cause error) (memory.ConsolidationState, error) {
	away := memory.IsKind(cause, memory.KindUnavailable) || errors.Is(cause, context.DeadlineExceeded)
	away = errors.Is(cause, context.Canceled) || away && s.Now().Sub(one.CreatedAt) < patience
	one.Error = cause.Error()
	if utf8.RuneCountInString(one.Error) > maxErrorRunes {
		one.Error = memory.Clip(one.Error, maxErrorRunes)
	}
	if !away {
		one.Attempts++
		one.State, one.EndedAt = memory.ConsolidationFailed, memory.Instant(s.Now())
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), setBackTimeout)
	defer cancel()
	s.Log.Info("a consolidation is tried again later", zap.String("consolidation", one.ID), zap.Int("attempts", one.Attempts), zap.Error(cause))
	err := s.Records.InUser(ctx, one.Owner, func(ctx context.Context, tx db.UserTx) error { return tx.ChangeConsolidation(ctx, one) })
	switch {
	case gone(err) || errors.Is(err, db.ErrConsolidated):
		return "", nil
	case err != nil:
		return "", err
	case away:
		return "", cause
	}
	return memory.ConsolidationFailed, nil
}
