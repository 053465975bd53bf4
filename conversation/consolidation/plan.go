package consolidation

import (
	"context"
	"errors"

	"hippocampus/conversation/session"
	"hippocampus/db"
	"hippocampus/internal/memory"
)

// OnTurn hears of a turn of a conversation once it is durable. What fails here
// is made up for by a later turn or the schedule.
func (s *Service) OnTurn(ctx context.Context, h session.ProcessedTurn) error {
	c := h.Conversation
	job := ConsolidateConversation{AppID: c.AppID, UserID: c.UserID, ConversationID: c.ID, FirstTurnID: c.FirstTurnID}
	for _, e := range h.Events {
		if e.Kind != memory.Chat && e.Importance >= s.set.Urgent {
			job.Trigger, job.Mark = memory.TriggerImportant, e.Number
		}
	}
	if job.Trigger == "" && h.Fill >= s.set.Full {
		job.Trigger, job.Mark = memory.TriggerFull, c.SummarisedThrough
	}
	if job.Trigger == "" {
		return nil
	}
	_, _, err := s.Records.Enqueue(ctx, job)
	return err
}

// Ended is a conversation that has ended, with what that consolidates of it.
type Ended struct {
	Conversation   memory.Conversation
	Consolidations []memory.Consolidation // newest first; some may have been planned before
}

// endTries is how often an end is tried that a turn came before.
const endTries = 5

// End ends a conversation and has it consolidated. An empty userID means the
// only user who has one of this id. Ending it twice is ending it once.
// KindNotFound, KindConflict: as db.Conversations says. ErrErasing.
func (s *Service) End(ctx context.Context, appID, userID, id string, trigger memory.ConsolidationTrigger) (ended Ended, err error) {
	for range endTries {
		c, err := s.Records.Conversation(ctx, appID, userID, id)
		if err != nil {
			return ended, err
		}
		if ended, err = s.endAs(ctx, c, trigger); !errors.Is(err, db.ErrConversationChanged) {
			return ended, err
		}
	}
	return ended, memory.Errorf(memory.KindUnavailable, "the conversation goes on while it is being ended: try again when all is said")
}

// endAs ends a conversation as it was read, and has it consolidated. ErrConversationChanged:
// it is another one by now.
func (s *Service) endAs(ctx context.Context, c memory.Conversation, trigger memory.ConsolidationTrigger) (ended Ended, err error) {
	// What an end consolidates is planned before it ends: whatever dies in
	// between, the plan is carried out, and ending again goes on.
	for all := false; !all; {
		if all, err = s.plan(ctx, c, trigger); err != nil {
			return ended, err
		}
	}
	if c, _, err = s.Records.EndConversation(ctx, c, s.Now(), reasons[trigger]); err != nil {
		return ended, err
	}
	ended.Conversation = c
	if ended.Consolidations, err = s.ofEnd(ctx, c); err != nil {
		return ended, err
	}
	for _, one := range ended.Consolidations {
		if one.State == memory.ConsolidationPending {
			_, _, err = s.Records.Enqueue(ctx, ConsolidateConversation{
				AppID: c.AppID, UserID: c.UserID, ConversationID: c.ID, FirstTurnID: c.FirstTurnID, Trigger: trigger, Mark: c.Events,
			})
			break
		}
	}
	return ended, err
}

// reasons are why a conversation has ended, by what has ended it.
var reasons = map[memory.ConsolidationTrigger]string{memory.TriggerEnd: "client", memory.TriggerIdle: "idle"}

const page = 100

// ofEnd lists the consolidations that reach the last event of a conversation,
// and those that wait, among its newest.
func (s *Service) ofEnd(ctx context.Context, c memory.Conversation) ([]memory.Consolidation, error) {
	all, err := s.Records.ListConsolidations(ctx, db.ConsolidationFilter{Owner: c.Owner, ConversationID: c.ID, Limit: page})
	list := []memory.Consolidation{}
	for _, one := range all {
		if one.Through == c.Events || one.State == memory.ConsolidationPending {
			list = append(list, one)
		}
	}
	return list, err
}

// maxStated is how many stated events one consolidation has at most.
const maxStated = 200

// plan stores what is to be consolidated of a conversation as it was read, once
// however often it is called, and reports whether that is all of it.
func (s *Service) plan(ctx context.Context, c memory.Conversation, trigger memory.ConsolidationTrigger) (all bool, err error) {
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
			return s.planFrom(ctx, tx, c, trigger, span{from, through, count}, planned[memory.FastReplay])
		})
		if err != nil || planned[memory.ConsolidateEvents] <= from {
			return through == c.Events, err
		}
		from = planned[memory.ConsolidateEvents] // what waits, or has failed, is planned already
	}
}

// span are the events after one and through another, and how many of them are
// stated ones that matter.
type span struct {
	after, through int64
	stated         int
}

// planFrom plans the stated events of a span, which nobody has planned, and what
// an end makes of the events after the last one that was replayed.
func (s *Service) planFrom(ctx context.Context, tx db.UserTx, c memory.Conversation, trigger memory.ConsolidationTrigger, events span, replayed int64) error {
	add := func(kind memory.ConsolidationType, from, through int64) error {
		return tx.PlanConsolidation(ctx, memory.Consolidation{
			ID: memory.NewID(), Owner: c.Owner, ConversationID: c.ID, Type: kind, Trigger: trigger,
			State: memory.ConsolidationPending, From: from, Through: through, CreatedAt: memory.Instant(s.Now()),
		})
	}
	switch {
	case events.stated > 0:
		if err := add(memory.ConsolidateEvents, events.after+1, events.through); err != nil {
			return err
		}
	case events.through > events.after && events.after <= c.ConsolidatedThrough: // nothing before it waits
		if err := tx.ConsolidateThrough(ctx, c.ID, events.through); err != nil {
			return err
		}
	}
	if reasons[trigger] == "" || c.Events-replayed < int64(s.set.Messages) {
		return nil
	}
	if err := add(memory.FastReplay, replayed+1, c.Events); err != nil {
		return err
	}
	return add(memory.DeepReflection, replayed+1, c.Events)
}

// stated counts the first stated events after one that matter, maxStated at most,
// and says how far a consolidation of them reaches.
func (s *Service) stated(ctx context.Context, c memory.Conversation, from int64) (count int, through int64, err error) {
	for after := from; after < c.Events; {
		turns, err := s.Records.ConversationTurns(ctx, c.Owner, c.ID, after, page)
		if err != nil {
			return 0, 0, err
		}
		for _, t := range turns {
			for _, e := range session.EventsOf(t) {
				switch {
				case e.Number <= from || e.Number > c.Events:
				case !s.matters(e):
				case count == maxStated:
					return count, e.Number - 1, nil
				default:
					count++
				}
				after = max(after, e.Number)
			}
		}
		if len(turns) < page {
			break
		}
	}
	return count, c.Events, nil
}

// matters reports whether an event passes the gate with its conversation.
func (s *Service) matters(e session.Event) bool {
	return e.Kind != memory.Chat && e.Importance >= s.set.Importance
}
