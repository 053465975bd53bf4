package consolidation

import (
	"context"
	"errors"
	"slices"
	"time"

	"hippocampus/conversation/session"
	"hippocampus/db"
	"hippocampus/internal/memory"
)

// OnTurn enqueues a consolidation if a turn has an important event or fills the working memory. If it fails, a later
// turn or the schedule enqueues it.
func (s *Service) OnTurn(ctx context.Context, t session.ProcessedTurn) error {
	c := t.Conversation
	job := ConsolidateConversation{AppID: c.AppID, UserID: c.UserID, ConversationID: c.ID, FirstTurnID: c.FirstTurnID}
	for _, e := range t.Events {
		if e.Kind != memory.Chat && e.Importance >= s.set.Urgent {
			job.Trigger, job.Mark = memory.TriggerImportant, e.Number
		}
	}
	if job.Trigger == "" && t.Fill >= s.set.Full {
		job.Trigger, job.Mark = memory.TriggerFull, c.SummarisedThrough
	}
	if job.Trigger == "" {
		return nil
	}
	return s.Records.EnqueueForConversation(ctx, c, job)
}

// Ended is a conversation that has ended, with its consolidations.
type Ended struct {
	Conversation   memory.Conversation
	Consolidations []memory.Consolidation // newest first; some may have been planned earlier
}

// endTries is how often an end is tried if turns are added in the meantime.
const endTries = 5

// End ends a conversation and has it consolidated. An empty userID means the only
// user who has a conversation of this id. Ending twice has the effect of ending
// once. KindNotFound, KindConflict: see db.Conversations. ErrErasing.
func (s *Service) End(ctx context.Context, appID, userID, id string, trigger memory.ConsolidationTrigger) (
	ended Ended, err error,
) {
	for range endTries {
		c, err := s.Records.Conversation(ctx, appID, userID, id)
		if err != nil {
			return ended, err
		}
		if ended, err = s.endAs(ctx, c, trigger); !errors.Is(err, db.ErrConversationChanged) {
			return ended, err
		}
	}
	return ended, memory.Errorf(memory.KindUnavailable,
		"turns are still added to the conversation: end it again after the last turn")
}

// endAs ends a conversation as it was read. ErrConversationChanged: it has
// changed in the meantime.
func (s *Service) endAs(ctx context.Context, c memory.Conversation, trigger memory.ConsolidationTrigger) (
	ended Ended, err error,
) {
	// The plan is stored before the conversation ends: if the process dies in
	// between, the plan is still carried out, and ending again continues.
	for all := false; !all; {
		if all, err = s.plan(ctx, c, trigger, s.stepsOf(trigger)); err != nil {
			return ended, err
		}
	}
	if c, _, err = s.Records.EndConversation(ctx, c, s.Now(), reasons[trigger]); err != nil {
		return ended, err
	}
	return s.enqueued(ctx, c, ConsolidateConversation{Trigger: trigger})
}

// enqueued returns the consolidations of all events of a conversation, and
// enqueues the job if any of them is pending.
func (s *Service) enqueued(ctx context.Context, c memory.Conversation, job ConsolidateConversation) (
	ended Ended, err error,
) {
	ended.Conversation = c
	if ended.Consolidations, err = s.ofEnd(ctx, c); err != nil {
		return ended, err
	}
	if !ended.Pending() {
		if job.Trigger != memory.TriggerRequest {
			err = s.ended(ctx, c)
		}
		return ended, err
	}
	job.AppID = c.AppID
	job.UserID = c.UserID
	job.ConversationID = c.ID
	job.FirstTurnID = c.FirstTurnID
	job.Mark = c.Events
	return ended, s.Records.EnqueueForConversation(ctx, c, job)
}

// reasons are the end reasons of conversations, by trigger.
var reasons = map[memory.ConsolidationTrigger]string{memory.TriggerEnd: "client", memory.TriggerIdle: "idle"}

const page = 100

// ofEnd lists, among the newest consolidations of a conversation, those that
// reach its last event and those that are pending.
func (s *Service) ofEnd(ctx context.Context, c memory.Conversation) ([]memory.Consolidation, error) {
	all, err := s.Records.ListConsolidations(ctx, db.ConsolidationFilter{Owner: c.Owner, ConversationID: c.ID,
		Limit: page})
	list := []memory.Consolidation{}
	for _, one := range all {
		if one.Through == c.Events || one.State == memory.ConsolidationPending {
			list = append(list, one)
		}
	}
	return list, err
}

// maxStated is the greatest number of stated events in one consolidation.
const maxStated = 200

// steps are the steps to plan in addition to the stated events. Each has the least number of events since it was
// planned last; 0: it is never planned.
type steps map[memory.ConsolidationType]int64

// stepsOf returns the steps that a trigger plans.
func (s *Service) stepsOf(trigger memory.ConsolidationTrigger) steps {
	if reasons[trigger] == "" {
		return nil
	}
	least := int64(s.set.Messages)
	return steps{memory.FastReplay: least, memory.DeepReflection: least}
}

// plan stores the consolidations of a conversation as it was read, and reports whether they cover all of it. Calling it
// again stores nothing twice.
func (s *Service) plan(ctx context.Context, c memory.Conversation, trigger memory.ConsolidationTrigger, also steps) (
	all bool, err error,
) {
	for from := c.ConsolidatedThrough; ; {
		count, through, err := s.stated(ctx, c, from)
		if err != nil {
			return false, err
		}
		var planned map[memory.ConsolidationType]int64
		err = s.Records.InUser(ctx, c.Owner, func(ctx context.Context, tx db.UserTx) (err error) {
			if planned, err = tx.Planned(ctx, c.ID); err != nil || planned[memory.ConsolidateEvents] > from {
				return err
			}
			if err := s.planFrom(ctx, tx, c, trigger, span{after: from, through: through, stated: count}); err != nil {
				return err
			}
			for _, kind := range memory.ConsolidationTypes {
				if least := also[kind]; least > 0 && c.Events-planned[kind] >= least {
					if err := s.add(ctx, tx, c, trigger, kind, planned[kind]+1, c.Events); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil || planned[memory.ConsolidateEvents] <= from {
			return through == c.Events, err
		}
		from = planned[memory.ConsolidateEvents] // pending and failed consolidations are planned already
	}
}

// span is a range of events: those after one number and up to another.
type span struct {
	after, through int64
	stated         int // stated events that matter
}

// planFrom plans the stated events of a span that is not planned yet.
func (s *Service) planFrom(ctx context.Context, tx db.UserTx, c memory.Conversation,
	trigger memory.ConsolidationTrigger, events span) error {
	switch {
	case events.stated > 0:
		return s.add(ctx, tx, c, trigger, memory.ConsolidateEvents, events.after+1, events.through)
	case events.through > events.after && events.after <= c.ConsolidatedThrough: // no earlier events are pending
		return tx.ConsolidateThrough(ctx, c.ID, events.through)
	}
	return nil
}

// add plans one consolidation.
func (s *Service) add(ctx context.Context, tx db.UserTx, c memory.Conversation, trigger memory.ConsolidationTrigger,
	kind memory.ConsolidationType, from, through int64) error {
	return tx.PlanConsolidation(ctx, memory.Consolidation{
		ID: memory.NewID(), Owner: c.Owner, ConversationID: c.ID, Type: kind, Trigger: trigger,
		State: memory.ConsolidationPending, From: from, Through: through, CreatedAt: memory.Instant(s.Now()),
	})
}

// stated counts the important stated events after an event number, at most maxStated, and returns the number of the
// last event that a consolidation of them reaches.
func (s *Service) stated(ctx context.Context, c memory.Conversation, after int64) (
	count int, through int64, err error,
) {
	for e, err := range session.Log(ctx, s.Records, c.Owner, c.ID, after, c.Events) {
		if err != nil {
			return 0, 0, err
		}
		if !s.matters(e.Event) {
			continue
		}
		if count == maxStated {
			return count, e.Number - 1, nil
		}
		count++
	}
	return count, c.Events, nil
}

// matters reports whether an event is a stated one that is important enough for the gate.
func (s *Service) matters(e session.Event) bool {
	return e.Kind != memory.Chat && e.Importance >= s.set.Importance
}

// Awaited consolidations are read at growing intervals.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = 250 * time.Millisecond
)

// Pending reports whether a consolidation has not been tried yet.
func (e Ended) Pending() bool {
	return slices.ContainsFunc(e.Consolidations, func(one memory.Consolidation) bool {
		return one.State == memory.ConsolidationPending
	})
}

// Await returns the end of a conversation once no consolidation of it is pending,
// or as it is when the context ends.
func (s *Service) Await(ctx context.Context, ended Ended) (Ended, error) {
	for wait := firstPause; ended.Pending(); wait = min(wait*5/4, lastPause) {
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ended, nil
		}
		c := ended.Conversation
		list, err := s.ofEnd(ctx, c)
		if err != nil && ctx.Err() != nil {
			return ended, nil
		}
		if err != nil {
			return ended, err
		}
		if ended.Consolidations = list; ended.Pending() {
			continue
		}
		if now, err := s.Records.Conversation(ctx, c.AppID, c.UserID, c.ID); err == nil {
			ended.Conversation = now
		}
	}
	return ended, nil
}
