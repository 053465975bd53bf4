package session

import (
	"context"
	"embed"
	"slices"
	"unicode/utf8"

	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/internal/llm"
	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
)

// CompactConversation is the job that condenses the older half of a conversation that is over its limits. One job is
// kept for each conversation, edition, start and quarter of fill, so that after a failed job a new one is made only
// when the conversation has grown.
type CompactConversation struct {
	jobs.Background `json:"-"`

	AppID          string `json:"app_id"`
	UserID         string `json:"user_id"`
	ConversationID string `json:"conversation_id"`
	FirstTurnID    string `json:"began"`
	Edition        int64  `json:"edition,omitempty"`
	From           int64  `json:"from"`     // the last event that was summarised
	Quarters       int    `json:"quarters"` // of the working memory that are full
}

// Kind is the name that the job is stored under.
func (CompactConversation) Kind() string { return "compact_conversation" }

// over reports whether a conversation is over its limits and has more than one
// event to condense, since the latest event is never condensed.
func (s *Service) over(c memory.Conversation) bool {
	return c.FillRatio(s.set.Events, s.set.Tokens) > 1 && c.Events-c.SummarisedThrough > 1
}

func (s *Service) compaction(c memory.Conversation) db.Job {
	return CompactConversation{
		AppID: c.AppID, UserID: c.UserID, ConversationID: c.ID, FirstTurnID: c.FirstTurnID, Edition: c.Edition,
		From: c.SummarisedThrough, Quarters: int(4 * c.FillRatio(s.set.Events, s.set.Tokens)),
	}
}

// Compacted is the result of a compaction.
type Compacted struct {
	Steps   int   `json:"steps"`
	Events  int64 `json:"events"`  // that were condensed
	Through int64 `json:"through"` // the last event in the summary
}

// maxSteps bounds one run of the job.
const maxSteps = 100

// Work does the job in steps until the conversation is within its limits. Each
// step takes effect once, however often the job runs. KindBadAnswer: the model's
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
		case !memory.IsKind(err, memory.KindConflict): // on a conflict, another process was faster
			return done, err
		}
	}
	return done, nil
}

// condense returns the conversation with a summary that includes the older half
// of the later events, or as many of them as fit into one prompt.
func (s *Service) condense(ctx context.Context, c memory.Conversation) (next memory.Conversation, err error) {
	ctx = llm.ForApp(ctx, c.AppID)
	middle := c.SummarisedThrough + (c.Events-c.SummarisedThrough)/2
	turns, err := s.Records.ConversationTurns(ctx, c.Owner, c.ID, c.SummarisedThrough, maxTurns)
	if err != nil {
		return next, err
	}
	zone, err := s.Zone.Of(ctx, c.Owner)
	if err != nil {
		return next, err
	}
	var events []Event
	for _, t := range turns {
		for _, e := range EventsOf(t) {
			e.At = e.At.In(zone)
			if c.SummarisedThrough < e.Number && e.Number <= middle {
				events = append(events, e)
			}
		}
	}
	events = fitting(events)
	if len(events) == 0 {
		return next, memory.Errorf(memory.KindUnavailable, "the conversation has changed while it was read: try again")
	}
	next = c
	next.SummarisedThrough = events[len(events)-1].Number
	if next.Summary, err = s.summarise(ctx, c.Summary, readable(events)); err != nil {
		return next, err
	}
	for _, t := range turns { // the conversation's tokens are the sum of these
		for i, m := range t.Messages {
			if n := t.FirstEvent + int64(i); c.SummarisedThrough < n && n <= next.SummarisedThrough {
				next.SummarisedTokens += int64(m.Tokens)
			}
		}
	}
	return next, nil
}

// summarise extends a summary by the events after it.
func (s *Service) summarise(ctx context.Context, summary string, events []Event) (string, error) {
	switch {
	case len(events) == 0:
		return summary, nil
	case s.Chat == nil:
		return bullets(summary, events, s.set.Summary), nil
	}
	return s.ask(ctx, summary, events)
}

func readable(events []Event) []Event {
	return slices.DeleteFunc(events, func(e Event) bool { return e.Withheld })
}

// maxTurns is how many turns one step reads.
const maxTurns = 100

// fitting returns the oldest events that fit into one prompt, at least one.
func fitting(events []Event) []Event {
	runes := 0
	for i, e := range events {
		if runes += min(utf8.RuneCountInString(e.Content), maxEventRunes); runes > maxPromptRunes && i > 0 {
			return events[:i]
		}
	}
	return events
}

//go:embed prompts
var promptFiles embed.FS

var compactPrompt = prompt.Parse(promptFiles, "compact")

// compactData fills the prompt.
type compactData struct {
	prompt.Quoted      // events, one per line, oldest first
	Time               string
	MaxRunes, MaxWords int
}

const (
	maxPromptRunes = 24_000 // of events in one prompt
	maxEventRunes  = 4_000  // of one event; longer ones are cut
)

// asked is the share of the room that the model is asked to fill, since models count roughly.
const asked = 0.8

// runesAWord is the average length of an English word with the space after it.
const runesAWord = 6

// ask has the model condense a summary and the events after it.
func (s *Service) ask(ctx context.Context, summary string, events []Event) (string, error) {
	quoted, err := prompt.Quote(PromptLines(summary, events, maxEventRunes)...)
	if err != nil {
		return "", err
	}
	room := asked * float64(s.set.Summary)
	data := compactData{
		Quoted: quoted, Time: PromptTime(events), MaxRunes: int(room), MaxWords: int(room / runesAWord),
	}
	return prompt.Ask(ctx, compactPrompt, s.Chat, Texts(summary, events), data,
		func(answer *llm.Answer) (string, error) {
			return ParseSummary(answer, compactPrompt, summary, events, s.set.Summary)
		})
}
