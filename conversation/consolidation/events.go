package consolidation

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"hippocampus/conversation/session"
	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
)

// cause returns the cause that is recorded for changes of memories.
func cause(one memory.Consolidation) string {
	return fmt.Sprintf("consolidation %s of conversation %s", one.ID, one.ConversationID)
}

// statedBy is the scorer of candidates that a backend stated.
const statedBy = "events"

// gated counts what became of stated events.
type gated struct {
	Events  int `json:"events"`
	Kept    int `json:"kept"`
	Merged  int `json:"merged"`
	Refused int `json:"refused"` // echoes and invalid candidates
}

// keepStated passes the stated events through the gate.
func (s *Service) keepStated(ctx context.Context, one memory.Consolidation) (memory.ConsolidationState, error) {
	c, err := s.begin(ctx, one)
	if err != nil {
		return "", err
	}
	c.Scorer, c.Threshold = statedBy, s.set.Importance
	for e, err := range session.Log(ctx, s.Records, one.Owner, one.ConversationID, one.From-1, one.Through) {
		if err != nil {
			return "", err
		}
		isOthers := e.Turn.IsOthers(memory.Message{Role: e.Role, Name: e.Name})
		if !s.matters(e.Event) || isOthers {
			continue
		}
		c.Stated = append(c.Stated, ingest.Stated{Turn: e.Turn, Tags: e.Tags, Fact: scorer.Fact{
			Content: strings.TrimSpace(e.Content), Importance: e.Importance, Domain: s.Guess(e.Content),
			Type: memory.Type(e.Kind),
		}})
	}
	c.Last = func(ctx context.Context, tx db.UserTx, done ingest.Consolidated) error {
		did := gated{Events: len(done.Candidates)}
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

// begin prepares the consolidation of a conversation, before its log is read.
func (s *Service) begin(ctx context.Context, one memory.Consolidation) (c ingest.Consolidation, err error) {
	log, err := s.Records.Conversation(ctx, one.AppID, one.UserID, one.ConversationID)
	return ingest.Consolidation{
		Owner: one.Owner, ConversationID: one.ConversationID, Edition: log.Edition, Cause: cause(one),
	}, err
}

// share holds the events of one agent, or of all agents if agentID is empty. The events that are private to one agent
// must not reach another agent.
type share struct {
	agentID string
	events  []session.Logged
}

// shares reads the latest events of a replay or reflection that have content, by agent, for each agent as many as a
// prompt holds. cut reports whether the replay begins with the conversation but some of its events did not fit.
func (s *Service) shares(ctx context.Context, one memory.Consolidation) (list []share, cut bool, err error) {
	zone, err := s.Zone.Of(ctx, one.Owner)
	if err != nil {
		return nil, false, err
	}
	from := max(one.From, one.Through-maxEvents+1)
	indexes := map[string]int{} // in list, by agent
	for e, err := range session.Log(ctx, s.Records, one.Owner, one.ConversationID, from-1, one.Through) {
		if err != nil {
			return nil, false, err
		}
		if strings.TrimSpace(e.Content) == "" {
			continue
		}
		e.At = e.At.In(zone)
		i, known := indexes[e.Turn.AgentID]
		if !known {
			i = len(list)
			indexes[e.Turn.AgentID] = i
			list = append(list, share{agentID: e.Turn.AgentID})
		}
		list[i].events = append(list[i].events, e)
	}
	for i := range list {
		all := list[i].events
		list[i].events = latest(all)
		cut = cut || from == 1 && len(list[i].events) < len(all)
	}
	return list, cut, nil
}

const (
	maxEvents      = 500    // of one replay or reflection
	maxPromptRunes = 24_000 // of events in one prompt
	maxEventRunes  = 4_000  // of one event; longer ones are cut
)

// latest returns the last events that fit into a prompt.
func latest(events []session.Logged) []session.Logged {
	room := maxPromptRunes
	for i := range slices.Backward(events) {
		events[i].Content = memory.Clip(events[i].Content, maxEventRunes)
		if room -= utf8.RuneCountInString(events[i].Content); room < 0 {
			return events[i+1:]
		}
	}
	return events
}

// said are the events of the share.
func (sh share) said() []session.Event {
	events := make([]session.Event, len(sh.events))
	for i, e := range sh.events {
		events[i] = e.Event
	}
	return events
}

// draft is a memory of the share, dated as its last event.
func (sh share) draft(one memory.Consolidation, t memory.Type, content string, domain memory.Domain,
	importance float64) memory.Memory {
	at := sh.events[0].At
	for _, e := range sh.events {
		if e.At.After(at) {
			at = e.At
		}
	}
	return memory.Memory{
		AgentID: sh.agentID, ConversationID: one.ConversationID, Content: content, Type: t, Domain: domain,
		Importance: importance, CreatedAt: at,
	}
}

//go:embed prompts
var promptFiles embed.FS
