package consolidation

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// ConsolidateConversation is the job that plans and carries out the
// consolidations of a trigger. One job is kept for each conversation, trigger, mark and mode.
type ConsolidateConversation struct {
	jobs.Background `json:"-"`

	AppID          string                      `json:"app_id"`
	UserID         string                      `json:"user_id"`
	ConversationID string                      `json:"conversation_id"`
	FirstTurnID    string                      `json:"began"`
	Trigger        memory.ConsolidationTrigger `json:"trigger"`
	Mark           int64                       `json:"mark"`           // an event of the conversation
	Mode           Mode                        `json:"mode,omitempty"` // of a request; see Consolidate
}

// Kind is the name that the job is stored under.
func (ConsolidateConversation) Kind() string { return "consolidate_conversation" }

// Totals counts the results of a job or of a run of the schedule.
type Totals struct {
	Done    int `json:"done"`
	Skipped int `json:"skipped"`
	Failed  int `json:"failed"`          // attempts, which the schedule retries
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

// plannedAhead are the triggers whose consolidations are planned before the job is enqueued.
var plannedAhead = map[memory.ConsolidationTrigger]bool{
	memory.TriggerEnd: true, memory.TriggerIdle: true, memory.TriggerRequest: true,
}

const (
	maxRounds = 100             // plans of one job
	busy      = 2 * time.Second // before a job retries a conversation that another process works on
)

// Work does the job. KindUnavailable: a store or the model is unavailable, and the
// consolidation stays pending.
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
		if !plannedAhead[job.Trigger] {
			all, err = s.plan(ctx, c, job.Trigger, nil)
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
			if job.Trigger == memory.TriggerEnd || job.Trigger == memory.TriggerIdle {
				err = s.ended(ctx, c)
			}
			return done, err
		}
	}
	return done, nil
}

// ended reports that a conversation has ended and no consolidation of it is pending.
func (s *Service) ended(ctx context.Context, c memory.Conversation) error {
	if s.OnEnded == nil {
		return nil
	}
	return s.OnEnded(ctx, c)
}

// pending lists the pending consolidations of a conversation, in the order of work.
func (s *Service) pending(ctx context.Context, c memory.Conversation) ([]memory.Consolidation, error) {
	all, err := s.Records.ListConsolidations(ctx, db.ConsolidationFilter{Owner: c.Owner, ConversationID: c.ID,
		Limit: page})
	all = slices.DeleteFunc(all, func(one memory.Consolidation) bool { return one.State != memory.ConsolidationPending })
	slices.SortFunc(all, func(a, b memory.Consolidation) int {
		return cmp.Or(cmp.Compare(a.Through, b.Through), cmp.Compare(typeOrder(a), typeOrder(b)))
	})
	return all, err
}

func typeOrder(c memory.Consolidation) int { return slices.Index(memory.ConsolidationTypes, c.Type) }

// gone reports whether the conversation or user of some work was deleted.
func gone(err error) bool {
	return memory.IsKind(err, memory.KindNotFound) || errors.Is(err, db.ErrErasing)
}

// ended reports whether the row of a consolidation was ended or deleted by others.
func ended(err error) bool { return gone(err) || errors.Is(err, db.ErrConsolidated) }

// attempt carries out one consolidation and returns its state; "" if another
// process has ended it or it was deleted. ErrConsolidating: another process works
// on the conversation. After any other error the consolidation is unchanged.
func (s *Service) attempt(ctx context.Context, one memory.Consolidation) (state memory.ConsolidationState, err error) {
	now := s.Now()
	err = s.Records.InUser(ctx, one.Owner, func(ctx context.Context, tx db.UserTx) (err error) {
		one, err = tx.ClaimConsolidation(ctx, one.ID, now, now.Add(s.Lease))
		return err
	})
	if err == nil {
		if state, err = s.carryOut(ctx, one); err != nil && !ended(err) {
			state, err = s.setBack(ctx, one, err)
		}
	}
	if ended(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	s.OnAttempt(one.Type, state)
	return state, nil
}

// carryOut carries out a consolidation by its type, and ends it.
func (s *Service) carryOut(ctx context.Context, one memory.Consolidation) (memory.ConsolidationState, error) {
	ctx, cancel := context.WithTimeout(llm.ForApp(ctx, one.AppID), s.Timeout)
	defer cancel()
	ctx, release := s.renew(ctx, one)
	defer release()
	switch one.Type {
	case memory.ConsolidateEvents:
		return s.keepStated(ctx, one)
	case memory.FastReplay:
		return s.replay(ctx, one)
	}
	return s.reflect(ctx, one)
}

// renew renews the claim of an attempt until release is called. The returned context
// ends when the claim is lost or may have ended.
func (s *Service) renew(ctx context.Context, one memory.Consolidation) (claimed context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(s.Lease / 4)
		defer ticker.Stop()
		for last := time.Now(); ; { //nolint:forbidigo // measures a duration
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			began := time.Now() //nolint:forbidigo // measures a duration
			ok, err := s.Records.RenewConsolidation(ctx, one, s.Now().Add(s.Lease))
			if err == nil {
				last = began
			}
			if err == nil && !ok || time.Since(last) >= s.Lease {
				cancel(memory.Errorf(memory.KindUnavailable, "another worker has taken the consolidation over"))
			}
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-ended
	}
}

// end ends a consolidation in a transaction.
func (s *Service) end(ctx context.Context, tx db.UserTx, one memory.Consolidation, state memory.ConsolidationState,
	why string, did any) error {
	one.State, one.Error = state, why
	one.EndedAt = memory.Instant(s.Now())
	if did != nil {
		one.Counts, _ = json.Marshal(did) // numbers only: cannot fail
	}
	return tx.ChangeConsolidation(ctx, one)
}

// skip ends a consolidation that cannot have a result.
func (s *Service) skip(ctx context.Context, one memory.Consolidation, why string) (memory.ConsolidationState, error) {
	return memory.ConsolidationSkipped, s.Records.InUser(ctx, one.Owner, func(ctx context.Context, tx db.UserTx) error {
		return s.end(ctx, tx, one, memory.ConsolidationSkipped, why, nil)
	})
}

const (
	setBackTimeout = 5 * time.Second // of storing a failed attempt
	maxErrorRunes  = 1000
	graceAge       = 3 * 24 * time.Hour // of a consolidation, from which unavailability costs attempts
)

// setBack stores a failed attempt and returns the state. If a part is
// unavailable, it returns the cause, and the attempt does not count until the
// consolidation is older than graceAge, unless it waits for a quota of the app: then the endpoint seems to reject the
// content of this conversation.
func (s *Service) setBack(ctx context.Context, one memory.Consolidation, cause error) (
	memory.ConsolidationState, error,
) {
	unavailable := memory.IsKind(cause, memory.KindUnavailable) || errors.Is(cause, context.DeadlineExceeded)
	free := errors.Is(cause, context.Canceled) || memory.LimitOf(cause) != "" ||
		unavailable && s.Now().Sub(one.CreatedAt) < graceAge
	one.Error = memory.Clip(cause.Error(), maxErrorRunes)
	if !free {
		one.Attempts++
		one.State, one.EndedAt = memory.ConsolidationFailed, memory.Instant(s.Now())
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), setBackTimeout)
	defer cancel()
	s.Log.Info("a consolidation is tried again later",
		zap.String("consolidation", one.ID), zap.Int("attempts", one.Attempts), zap.Error(cause))
	err := s.Records.InUser(ctx, one.Owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.ChangeConsolidation(ctx, one)
	})
	switch {
	case err != nil:
		return "", err
	case free:
		return "", cause
	}
	return memory.ConsolidationFailed, nil
}
