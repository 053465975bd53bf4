package consolidation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hippocampus/conversation/session"
	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
)

// said is an event with the turn that it stands in.
type said struct {
	session.Event
	turn memory.Turn
}

// window reads those of the events from..through of a conversation that are
// wanted, oldest first.
func (s *Service) window(ctx context.Context, one memory.Consolidation, from int64, wanted func(session.Event) bool) (events []said, err error) {
	for after := from - 1; after < one.Through; {
		turns, err := s.Records.ConversationTurns(ctx, one.Owner, one.ConversationID, after, page)
		if err != nil {
			return nil, err
		}
		for _, t := range turns {
			for _, e := range session.EventsOf(t) {
				if from <= e.Number && e.Number <= one.Through && wanted(e) {
					events = append(events, said{e, t})
				}
				after = max(after, e.Number)
			}
		}
		if len(turns) < page {
			break
		}
	}
	return events, nil
}

// cause is what the events of memories' histories name.
func cause(one memory.Consolidation) string {
	return fmt.Sprintf("consolidation %s of conversation %s", one.ID, one.ConversationID)
}

// statedBy is who proposes the candidates that a backend has stated.
const statedBy = "events"

// passed counts what became of stated events.
type passed struct {
	Events  int `json:"events"`
	Kept    int `json:"kept"`
	Merged  int `json:"merged"`
	Refused int `json:"refused"` // below the threshold, echoes and invalid ones
}

// keepStated takes the stated events through the gate.
func (s *Service) keepStated(ctx context.Context, one memory.Consolidation) (memory.ConsolidationState, error) {
	events, err := s.window(ctx, one, one.From, s.matters)
	if err != nil {
		return "", err
	}
	c := ingest.Consolidation{Owner: one.Owner, Cause: cause(one), Scorer: statedBy}
	for _, e := range events {
		c.Stated = append(c.Stated, ingest.Stated{Turn: e.turn, Tags: e.Tags, Fact: scorer.Fact{
			Content: strings.TrimSpace(e.Content), Importance: e.Importance, Domain: s.Guess(e.Content), Type: memory.Type(e.Kind),
		}})
	}
	c.Last = func(ctx context.Context, tx db.UserTx, done ingest.Consolidated) error {
		did := passed{Events: len(done.Candidates)}
		for _, candidate := range done.Candidates {
			switch candidate.Verdict {
			case memory.Kept:
				did.Kept++
			case memory.Merged, memory.Duplicate:
				did.Merged++
			default:
				did.Refused++
			}
		}
		if err := s.end(ctx, tx, one, memory.ConsolidationDone, "", did); err != nil {
			return err
		}
		return tx.ConsolidateThrough(ctx, one.ConversationID, one.Through)
	}
	_, err = s.Writer.Consolidate(ctx, c)
	return memory.ConsolidationDone, err
}

// share is what one agent has heard of a conversation: what is private to it
// must not reach another.
type share struct {
	agentID string
	events  []said
}

// shares reads the latest events of a replay or reflection that say anything, by
// agent, each with as much as a prompt has room for. cut reports whether some of
// the conversation's events, all of which were read, had no room.
func (s *Service) shares(ctx context.Context, one memory.Consolidation) (list []share, cut bool, err error) {
	from := max(one.From, one.Through-maxEvents+1)
	events, err := s.window(ctx, one, from, func(e session.Event) bool { return strings.TrimSpace(e.Content) != "" })
	if err != nil {
		return nil, false, err
	}
	places := map[string]int{}
	for _, e := range events {
		place, known := places[e.turn.AgentID]
		if !known {
			place = len(list)
			places[e.turn.AgentID], list = place, append(list, share{agentID: e.turn.AgentID})
		}
		list[place].events = append(list[place].events, e)
	}
	for i := range list {
		all := list[i].events
		list[i].events = latest(all)
		cut = cut || from == 1 && len(list[i].events) < len(all)
	}
	return list, cut, nil
}

const (
	maxEvents      = 500    // of one replay or reflection, the latest
	maxPromptRunes = 24_000 // of events in one prompt
	maxEventRunes  = 4_000  // of one event; what is longer is cut
)

// latest are the last events, as many as a prompt has room for.
func latest(events []said) []said {
	room := maxPromptRunes
	for i := range slices.Backward(events) {
		events[i].Content = memory.Clip(events[i].Content, maxEventRunes)
		if room -= len([]rune(events[i].Content)); room < 0 {
			return events[i+1:]
		}
	}
	return events
}

// sample is what was said, for telling its language.
func (sh share) sample() string {
	var all []string
	for _, e := range sh.events {
		all = append(all, e.Content)
	}
	return strings.Join(all, "\n")
}

// draft is a memory of what was said, as old as the last of it.
func (sh share) draft(one memory.Consolidation, t memory.Type, content string, domain memory.Domain, importance float64) memory.Memory {
	at := sh.events[0].At
	for _, e := range sh.events {
		if e.At.After(at) {
			at = e.At
		}
	}
	return memory.Memory{
		AgentID: sh.agentID, ConversationID: one.ConversationID, Content: content, Type: t, Domain: domain, Importance: importance, CreatedAt: at,
	}
}
