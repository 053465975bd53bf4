package exchange

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// turnLine is a turn of a conversation that has been settled: processed or failed.
type turnLine struct {
	talk
	ID          string            `json:"id"`
	ClientID    string            `json:"client_id,omitempty"`
	AgentID     string            `json:"agent_id,omitempty"`
	FirstEvent  int64             `json:"first_event"`
	Messages    []memory.Message  `json:"messages"`
	Metadata    json.RawMessage   `json:"metadata,omitempty"`
	At          time.Time         `json:"at"`
	Hash        string            `json:"hash"` // of all that the client sent
	Status      memory.TurnStatus `json:"status"`
	Attempts    int               `json:"attempts,omitempty"`
	LastError   string            `json:"last_error,omitempty"`
	AcceptedAt  time.Time         `json:"accepted_at"`
	QueuedAt    time.Time         `json:"queued_at"`
	ProcessedAt time.Time         `json:"processed_at,omitzero"`
}

// settled are the statuses of turns that are exported.
var settled = []memory.TurnStatus{memory.TurnProcessed, memory.TurnFailed}

func turnLineOf(began string, t memory.Turn) turnLine {
	return turnLine{
		talk: talk{t.UserID, t.ConversationID, began}, ID: t.ID, ClientID: t.ClientID, AgentID: t.AgentID, FirstEvent: t.FirstEvent,
		Messages: t.Messages, Metadata: compact(t.Metadata), At: t.At, Hash: t.Hash, Status: t.Status, Attempts: t.Attempts,
		LastError: t.LastError, AcceptedAt: t.AcceptedAt, QueuedAt: t.QueuedAt, ProcessedAt: t.ProcessedAt,
	}
}

func (l *turnLine) turn(appID string) memory.Turn {
	return memory.Turn{
		ID: l.ID, Owner: memory.Owner{AppID: appID, UserID: l.UserID}, ClientID: l.ClientID, AgentID: l.AgentID, ConversationID: l.ConversationID,
		Messages: l.Messages, Metadata: compact(l.Metadata), At: memory.Instant(l.At), Hash: l.Hash, FirstEvent: l.FirstEvent,
		Status: l.Status, Attempts: l.Attempts, LastError: l.LastError, AcceptedAt: memory.Instant(l.AcceptedAt),
		QueuedAt: memory.Instant(l.QueuedAt), ProcessedAt: orInstant(l.ProcessedAt),
	}
}

func (l *turnLine) kind() Kind { return Turns }

func (l *turnLine) check(c *complaints) {
	l.talk.check(c, "turn.")
	c.id("turn.id", l.ID)
	c.note("turn.client_id", memory.CheckID(l.ClientID, true))
	c.note("turn.agent_id", memory.CheckID(l.AgentID, true))
	c.number("turn.first_event", l.FirstEvent, 1, maxNumber)
	if n := len(l.Messages); n == 0 || n > memory.MaxMessages {
		c.note("turn.messages", fmt.Sprintf("holds %d messages: 1 to %d are allowed", n, memory.MaxMessages))
	}
	for n, m := range l.Messages {
		path := fmt.Sprintf("turn.messages[%d].", n)
		known(c, path+"role", roles, m.Role)
		c.note(path+"content", memory.CheckMessage(m.Content))
		c.note(path+"name", memory.CheckID(m.Name, true))
		if m.Kind != "" {
			known(c, path+"kind", memory.MessageKinds, m.Kind)
		}
		c.note(path+"tags", memory.CheckTags(m.Tags))
		c.number(path+"tokens", int64(m.Tokens), 0, maxNumber)
	}
	c.note("turn.metadata", memory.CheckMetadata(compact(l.Metadata)))
	c.hash("turn.hash", l.Hash)
	known(c, "turn.status", settled, l.Status)
	c.number("turn.attempts", int64(l.Attempts), 0, maxNumber)
	c.textOrNone("turn.last_error", l.LastError, maxError)
	for path, t := range map[string]time.Time{"turn.at": l.At, "turn.accepted_at": l.AcceptedAt, "turn.queued_at": l.QueuedAt} {
		c.time(path, t)
	}
	c.timeOrNone("turn.processed_at", l.ProcessedAt)
	if l.ProcessedAt.IsZero() == (l.Status == memory.TurnProcessed) {
		c.note("turn.processed_at", "goes with the status processed, and with no other")
	}
}

// roles of the speakers of messages.
var roles = []string{"user", "assistant", "system", "tool"}

func (l *turnLine) wait(ctx context.Context, i *importing, number, size int) error {
	told, of := l.turn(i.appID), l.talk
	return i.waitForUser(ctx, l.UserID, number, size, Turns, func(ctx context.Context, tx db.UserTx) (bool, error) {
		if err := of.holds(ctx, tx, told.LastEvent()); err != nil {
			return false, err
		}
		is, ok, err := tx.RecordedTurn(ctx, told.ID)
		if err != nil {
			return false, err
		}
		if ok {
			return false, same("turn "+told.ID, turnLineOf(of.Began, told), turnLineOf(of.Began, is))
		}
		return true, taken(tx.RestoreTurn(ctx, told), "a turn, or the one that its client gave it,")
	})
}

// consolidationLine is that events of a conversation were consolidated, and are
// not consolidated again.
type consolidationLine struct {
	talk
	ID        string                      `json:"id"`
	Type      memory.ConsolidationType    `json:"type"`
	Trigger   memory.ConsolidationTrigger `json:"trigger"`
	State     memory.ConsolidationState   `json:"state"`
	From      int64                       `json:"from_event"`
	Through   int64                       `json:"through_event"`
	Counts    json.RawMessage             `json:"counts,omitempty"`
	Error     string                      `json:"error,omitempty"`
	Attempts  int                         `json:"attempts,omitempty"`
	CreatedAt time.Time                   `json:"created_at"`
	StartedAt time.Time                   `json:"started_at,omitzero"`
	EndedAt   time.Time                   `json:"ended_at,omitzero"`
}

func consolidationLineOf(began string, c memory.Consolidation) consolidationLine {
	return consolidationLine{
		talk: talk{c.UserID, c.ConversationID, began}, ID: c.ID, Type: c.Type, Trigger: c.Trigger, State: c.State, From: c.From,
		Through: c.Through, Counts: compact(c.Counts), Error: c.Error, Attempts: c.Attempts,
		CreatedAt: c.CreatedAt, StartedAt: c.StartedAt, EndedAt: c.EndedAt,
	}
}

func (l *consolidationLine) kind() Kind { return Consolidations }

var (
	triggers = []memory.ConsolidationTrigger{memory.TriggerImportant, memory.TriggerFull, memory.TriggerSchedule, memory.TriggerEnd, memory.TriggerIdle}
	finished = []memory.ConsolidationState{memory.ConsolidationDone, memory.ConsolidationSkipped}
)

func (l *consolidationLine) check(c *complaints) {
	l.talk.check(c, "consolidation.")
	c.id("consolidation.id", l.ID)
	known(c, "consolidation.type", memory.ConsolidationTypes, l.Type)
	known(c, "consolidation.trigger", triggers, l.Trigger)
	known(c, "consolidation.state", finished, l.State)
	c.number("consolidation.through_event", l.Through, 1, maxNumber)
	c.number("consolidation.from_event", l.From, 1, l.Through)
	c.note("consolidation.counts", memory.CheckMetadata(compact(l.Counts)))
	c.textOrNone("consolidation.error", l.Error, maxError)
	c.number("consolidation.attempts", int64(l.Attempts), 0, maxNumber)
	c.time("consolidation.created_at", l.CreatedAt)
	c.timeOrNone("consolidation.started_at", l.StartedAt)
	c.timeOrNone("consolidation.ended_at", l.EndedAt)
}

func (l *consolidationLine) wait(ctx context.Context, i *importing, number, size int) error {
	told := memory.Consolidation{
		ID: l.ID, Owner: memory.Owner{AppID: i.appID, UserID: l.UserID}, ConversationID: l.ConversationID, Type: l.Type, Trigger: l.Trigger,
		State: l.State, From: l.From, Through: l.Through, Counts: compact(l.Counts), Error: l.Error, Attempts: l.Attempts,
		CreatedAt: memory.Instant(l.CreatedAt), StartedAt: orInstant(l.StartedAt), EndedAt: orInstant(l.EndedAt),
	}
	of := l.talk
	return i.waitForUser(ctx, l.UserID, number, size, Consolidations, func(ctx context.Context, tx db.UserTx) (bool, error) {
		if err := of.holds(ctx, tx, told.Through); err != nil {
			return false, err
		}
		is, ok, err := tx.RecordedConsolidation(ctx, told.ID)
		if err != nil {
			return false, err
		}
		if ok {
			return false, same("consolidation "+told.ID, consolidationLineOf(of.Began, told), consolidationLineOf(of.Began, is))
		}
		return true, taken(tx.PlanConsolidation(ctx, told), "a consolidation, or its place,")
	})
}

// exportTalk writes what was said in a conversation when it was read, and what
// has been made of it. What is not settled yet is left out, and counted.
func (s *Service) exportTalk(ctx context.Context, c memory.Conversation, counts Counts, say func(kind Kind, key string, line any) error) error {
	err := each(pageTexts, func(after *memory.Turn) ([]memory.Turn, error) {
		through := int64(0)
		if after != nil {
			through = after.LastEvent()
		}
		found, err := s.records.ConversationTurns(ctx, c.Owner, c.ID, through, pageTexts)
		later := slices.IndexFunc(found, func(t memory.Turn) bool { return t.LastEvent() > c.Events })
		if later >= 0 {
			found = found[:later]
		}
		return found, err
	}, func(t memory.Turn) error {
		if !slices.Contains(settled, t.Status) {
			counts[LeftOut]++
			return nil
		}
		return say(Turns, "turn", turnLineOf(c.FirstTurnID, t))
	})
	if err != nil {
		return err
	}
	return each(pageLines, func(after *memory.Consolidation) ([]memory.Consolidation, error) {
		f := db.ConsolidationFilter{Owner: c.Owner, ConversationID: c.ID, Limit: pageLines}
		if after != nil {
			f.Before = &db.Position{At: after.CreatedAt, ID: after.ID}
		}
		return s.records.ListConsolidations(ctx, f)
	}, func(one memory.Consolidation) error {
		switch {
		case one.Through > c.Events: // planned since
			return nil
		case one.Unfinished():
			counts[LeftOut]++
			return nil
		}
		return say(Consolidations, "consolidation", consolidationLineOf(c.FirstTurnID, one))
	})
}
