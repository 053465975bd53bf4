package session

import (
	"context"
	"unicode/utf8"

	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/internal/memory"
)

// CompactConversation is the job that condenses the older half of a
// conversation that is over its limits. One is kept for each beginning, start
// and quarter of fill, so that one which failed comes back as the conversation
// grows, and not before.
type CompactConversation struct {
	jobs.Background `json:"-"`

	AppID          string `json:"app_id"`
	UserID         string `json:"user_id"`
	ConversationID string `json:"conversation_id"`
	FirstTurnID    string `json:"began"`
	From           int64  `json:"from"`     // the last event that was summarised
	Quarters       int    `json:"quarters"` // of the working memory that were filled
}

// Kind is the name that the job is stored under.
func (CompactConversation) Kind() string { return "compact_conversation" }

// over reports whether a conversation is over its limits, and has more than one
// event to condense: the latest is never.
func (s *Service) over(c memory.Conversation) bool {
	return c.FillRatio(s.set.Events, s.set.Tokens) > 1 && c.Events-c.SummarisedThrough > 1
}

func (s *Service) compaction(c memory.Conversation) db.Job {
	return CompactConversation{
		AppID: c.AppID, UserID: c.UserID, ConversationID: c.ID, FirstTurnID: c.FirstTurnID,
		From: c.SummarisedThrough, Quarters: int(4 * c.FillRatio(s.set.Events, s.set.Tokens)),
	}
}

// Compacted is what a compaction did.
type Compacted struct {
	Steps   int   `json:"steps"`
	Events  int64 `json:"events"`  // that were condensed
	Through int64 `json:"through"` // the last one that the summary stands for
}

// maxSteps bounds one run of the job.
const maxSteps = 100

// Work does the job: step by step, until the conversation is within its limits.
// A step is done once, however often the job runs. KindBadAnswer: the model's
// answer was refused, and nothing has changed since the last step.
func (s *Service) Work(ctx context.Context, job CompactConversation) (any, error) {
	var done Compacted
	for range maxSteps {
		c, err := s.Records.Conversation(ctx, job.AppID, job.UserID, job.ConversationID)
		if memory.IsKind(err, memory.KindNotFound) {
			return done, nil
		}
		if err != nil {
			return done, err
		}
		done.Through = c.SummarisedThrough
		if c.FirstTurnID != job.FirstTurnID || !s.over(c) {
			return done, nil
		}
		next, err := s.condense(ctx, c)
		if err != nil {
			return done, err
		}
		err = s.Records.Summarise(ctx, c, next)
		switch {
		case err == nil:
			done.Steps++
			done.Events += next.SummarisedThrough - c.SummarisedThrough
		case !memory.IsKind(err, memory.KindConflict): // else somebody else was faster
			return done, err
		}
	}
	return done, nil
}

// condense makes the conversation whose summary stands for the older half of
// the events that it does not stand for yet, or for as many of them as fit into
// one prompt.
func (s *Service) condense(ctx context.Context, c memory.Conversation) (next memory.Conversation, err error) {
	middle := c.SummarisedThrough + (c.Events-c.SummarisedThrough)/2
	turns, err := s.Records.ConversationTurns(ctx, c.Owner, c.ID, c.SummarisedThrough, maxTurns)
	if err != nil {
		return next, err
	}
	var events []Event
	for _, t := range turns {
		for _, e := range EventsOf(t) {
			if c.SummarisedThrough < e.Number && e.Number <= middle {
				events = append(events, e)
			}
		}
	}
	events = fitting(events)
	if len(events) == 0 {
		return next, memory.Errorf(memory.KindUnavailable, "the conversation was changed while it was read: try again")
	}
	next = c
	if s.Chat == nil {
		next.Summary = bullets(c.Summary, events, s.set.Summary)
	} else if next.Summary, err = s.ask(ctx, c.Summary, events); err != nil {
		return next, err
	}
	next.SummarisedThrough = events[len(events)-1].Number
	for _, t := range turns { // by what the conversation's tokens are a sum of
		for i, m := range t.Messages {
			if n := t.FirstEvent + int64(i); c.SummarisedThrough < n && n <= next.SummarisedThrough {
				next.SummarisedTokens += int64(m.Tokens)
			}
		}
	}
	return next, nil
}

// maxTurns are read for one step.
const maxTurns = 100

// fitting are the oldest events, as many as fit into one prompt; at least one
// where there is any.
func fitting(events []Event) []Event {
	runes := 0
	for i, e := range events {
		if runes += min(utf8.RuneCountInString(e.Content), maxEventRunes); runes > maxPromptRunes && i > 0 {
			return events[:i]
		}
	}
	return events
}
