package consolidation

import (
	"context"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/session"
)

// Heard hears of a turn of a conversation once it is durable. What fails here
// is made up for by a later turn or the schedule.
func (s *Service) Heard(ctx context.Context, h session.Heard) error {
	job := ConsolidateConversation{AppID: h.Conversation.AppID, UserID: h.Conversation.UserID, ConversationID: h.Conversation.ID}
	for _, e := range h.Events {
		if e.Kind != memory.Chat && e.Importance >= s.set.Urgent {
			job.Trigger, job.Mark = memory.TriggerImportant, e.Number
		}
	}
	if job.Trigger == "" && h.Fill >= s.set.Full {
		job.Trigger, job.Mark = memory.TriggerFull, h.Conversation.SummarisedThrough
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
	// What an end consolidates is planned before it ends: whatever dies in
	// between, the plan is carried out, and ending again goes on.
	for range endTries {
		c, err := s.Records.Conversation(ctx, appID, userID, id)
		if err != nil {
			return ended, err
		}
		if _, err := s.plan(ctx, c, trigger); err != nil {
			return ended, err
		}
		if ended.Conversation, _, err = s.Records.EndConversation(ctx, c.Owner, c.ID, s.Now(), reasons[trigger]); err != nil {
			return ended, err
		}
		if ended.Conversation.Events == c.Events && ended.Conversation.Began == c.Began {
			break
		}
	}
	c := ended.Conversation
	if ended.Consolidations, err = s.ofEnd(ctx, c); err != nil {
		return ended, err
	}
	for _, one := range ended.Consolidations {
		if one.State == memory.ConsolidationPending {
			_, _, err = s.Records.Enqueue(ctx, ConsolidateConversation{
				AppID: c.AppID, UserID: c.UserID, ConversationID: c.ID, Trigger: trigger, Mark: c.Events,
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
	stated, through, err := s.stated(ctx, c)
	if err != nil {
		return false, err
	}
	at := memory.Instant(s.Now())
	err = s.Records.InUser(ctx, c.Owner, func(ctx context.Context, tx db.UserTx) error {
		planned, err := tx.Planned(ctx, c.ID)
		if err != nil {
			return err
		}
		add := func(kind memory.ConsolidationType, from, through int64) error {
			return tx.PlanConsolidation(ctx, memory.Consolidation{
				ID: memory.NewID(), Owner: c.Owner, ConversationID: c.ID, Type: kind, Trigger: trigger,
				State: memory.ConsolidationPending, From: from, Through: through, CreatedAt: at,
			})
		}
		reach := planned[memory.ConsolidateEvents]
		waits := reach > c.ConsolidatedThrough // something planned before is not done yet
		reach = max(reach, c.ConsolidatedThrough)
		switch {
		case len(stated) > 0 && stated[len(stated)-1] > reach:
			if err := add(memory.ConsolidateEvents, reach+1, through); err != nil {
				return err
			}
		case through > reach && !waits:
			if err := tx.ConsolidateThrough(ctx, c.ID, through); err != nil {
				return err
			}
		}
		reach = planned[memory.FastReplay]
		if reasons[trigger] == "" || c.Events-reach < int64(s.set.Messages) {
			return nil
		}
		if err := add(memory.FastReplay, reach+1, c.Events); err != nil {
			return err
		}
		return add(memory.DeepReflection, reach+1, c.Events)
	})
	return through == c.Events, err
}

// stated lists the numbers of the first stated events, maxStated at most, that
// matter and are not consolidated, and how far a consolidation of them reaches.
func (s *Service) stated(ctx context.Context, c memory.Conversation) (numbers []int64, through int64, err error) {
	for after := c.ConsolidatedThrough; after < c.Events; {
		turns, err := s.Records.ConversationTurns(ctx, c.Owner, c.ID, after, page)
		if err != nil {
			return nil, 0, err
		}
		for _, t := range turns {
			for _, e := range session.EventsOf(t) {
				switch {
				case e.Number <= c.ConsolidatedThrough || e.Number > c.Events:
				case !s.matters(e):
				case len(numbers) == maxStated:
					return numbers, e.Number - 1, nil
				default:
					numbers = append(numbers, e.Number)
				}
				after = max(after, e.Number)
			}
		}
		if len(turns) < page {
			break
		}
	}
	return numbers, c.Events, nil
}

// matters reports whether an event passes the gate with its conversation.
func (s *Service) matters(e session.Event) bool {
	return e.Kind != memory.Chat && e.Importance >= s.set.Importance
}
