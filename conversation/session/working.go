package session

import (
	"context"
	"slices"
	"time"

	"hippocampus/internal/memory"
)

// Filter selects events of a working memory. Empty fields do not restrict.
type Filter struct {
	Kinds         []memory.MessageKind
	Tags          []string // at least one of them
	MinImportance float64
	Since         time.Time // dated at or after
	Limit         int       // the latest events; 0: all
}

// Working is the working memory of a conversation.
type Working struct {
	Conversation memory.Conversation // its Summary covers the time before the events
	Events       []Event             // that match the filter, oldest first
	Before       []Event             // recent ones that do not fit, matching or not, oldest first
	Held         int                 // events, matching or not
	Tokens       int                 // of all held events
	Fill         float64             // by events after the summary; 1 is full, above 1 compaction is due
}

// tries is how often a conversation is read if it is deleted in the meantime.
const tries = 3

// Working reads the working memory of a conversation, up to the last event that was accepted before the call. An empty
// userID means the only user who has a conversation of this id. KindNotFound, KindConflict: see db.Conversations.
func (s *Service) Working(ctx context.Context, appID, userID, id string, f Filter) (Working, error) {
	for range tries {
		c, err := s.Records.Conversation(ctx, appID, userID, id)
		if err != nil {
			return Working{}, err
		}
		r, err := s.ring(ctx, c)
		if err != nil {
			return Working{}, err
		}
		if r.last < c.Events { // it was deleted in between
			continue
		}
		before, held := fit(r.recent(c.SummarisedThrough, s.set, s.Now()), s.set.Tokens)
		w := Working{
			Conversation: c, Events: f.choose(held), Before: before, Held: len(held),
			Fill: c.FillRatio(s.set.Events, s.set.Tokens),
		}
		for _, e := range held {
			w.Tokens += e.Tokens
		}
		return w, nil
	}
	return Working{}, memory.Errorf(memory.KindUnavailable,
		"the conversation is being deleted and started again: try again")
}

// ring returns the ring of a conversation, up to its last event.
func (s *Service) ring(ctx context.Context, c memory.Conversation) (ring, error) {
	key := keyOf(c.Owner, c.ID)
	from := max(c.SummarisedThrough, c.Events-int64(s.set.Events))
	r, ok := s.rings.Get(key)
	if !ok || r.firstTurnID != c.FirstTurnID || r.edition != c.Edition || r.last < from {
		r = ring{firstTurnID: c.FirstTurnID, edition: c.Edition, last: from}
	}
	if r.last >= c.Events {
		return r, nil
	}
	turns, err := s.Records.ConversationTurns(ctx, c.Owner, c.ID, r.last, s.set.Events)
	if err != nil {
		return r, err
	}
	r = r.with(s.set.Events, turns...)
	s.cache(key, r)
	return r, nil
}

func (s *Service) cache(key string, r ring) { s.rings.Add(key, r, r.bytes()) }

// choose returns the events that match the filter.
func (f Filter) choose(events []Event) []Event {
	chosen := make([]Event, 0, len(events))
	for _, e := range events {
		if f.matches(e) {
			chosen = append(chosen, e)
		}
	}
	if f.Limit > 0 {
		chosen = chosen[max(0, len(chosen)-f.Limit):]
	}
	return chosen
}

func (f Filter) matches(e Event) bool {
	return (len(f.Kinds) == 0 || slices.Contains(f.Kinds, e.Kind)) &&
		(len(f.Tags) == 0 || slices.ContainsFunc(f.Tags, func(tag string) bool { return slices.Contains(e.Tags, tag) })) &&
		e.Importance >= f.MinImportance && !e.At.Before(f.Since)
}
