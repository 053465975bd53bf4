package exchange

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// turnLine is a turn that was processed, failed or withdrawn. The lines of turns,
// conversations and skills are not the bodies of the API: they hold what an import
// needs to go on, such as the hash, the queue's time and the first turn of a
// conversation, and their bytes stay readable by later versions when a body changes.
type turnLine struct {
	conversationKey
	ID          string            `json:"id"`
	ClientID    string            `json:"client_id,omitempty"`
	AgentID     string            `json:"agent_id,omitempty"`
	FirstEvent  int64             `json:"first_event"`
	Messages    []memory.Message  `json:"messages"`
	Withheld    []memory.Withheld `json:"withheld,omitempty"`
	LeftOut     []memory.Omission `json:"left_out,omitempty"`
	Memory      memory.Mode       `json:"memory,omitempty"`
	Metadata    json.RawMessage   `json:"metadata,omitempty"`
	At          time.Time         `json:"at"`
	ExpiresAt   time.Time         `json:"expires_at,omitzero"`
	Hash        string            `json:"hash"` // of all that the client sent
	Status      memory.TurnStatus `json:"status"`
	Attempts    int               `json:"attempts,omitempty"`
	LastError   string            `json:"last_error,omitempty"`
	AcceptedAt  time.Time         `json:"accepted_at"`
	QueuedAt    time.Time         `json:"queued_at"`
	ProcessedAt time.Time         `json:"processed_at,omitzero"`
	WithdrawnAt time.Time         `json:"withdrawn_at,omitzero"`
	Scored      memory.Scoring    `json:"scored,omitzero"`
	Shared      memory.Share      `json:"shared,omitzero"`
}

var exportedTurns = []memory.TurnStatus{memory.TurnProcessed, memory.TurnFailed, memory.TurnWithdrawn}

func turnLineOf(firstTurnID string, t memory.Turn) turnLine {
	return turnLine{
		conversationKey: conversationKey{t.UserID, t.ConversationID, firstTurnID},
		ID:              t.ID, ClientID: t.ClientID, AgentID: t.AgentID, FirstEvent: t.FirstEvent, Messages: t.Messages,
		Metadata: compact(t.Metadata), At: t.At, Hash: t.Hash, Status: t.Status, Attempts: t.Attempts,
		LastError: t.LastError, AcceptedAt: t.AcceptedAt, QueuedAt: t.QueuedAt, ProcessedAt: t.ProcessedAt,
		WithdrawnAt: t.WithdrawnAt, Withheld: t.Withheld, LeftOut: t.LeftOut, ExpiresAt: t.ExpiresAt,
		Memory: t.Memory, Scored: t.Scored, Shared: t.Shared,
	}
}

func (l *turnLine) turn(appID string) memory.Turn {
	return memory.Turn{
		ID: l.ID, Owner: memory.Owner{AppID: appID, UserID: l.UserID}, ClientID: l.ClientID, AgentID: l.AgentID,
		ConversationID: l.ConversationID, Messages: l.Messages, Metadata: compact(l.Metadata),
		At: memory.Instant(l.At), Hash: l.Hash, FirstEvent: l.FirstEvent,
		Status: l.Status, Attempts: l.Attempts, LastError: l.LastError, AcceptedAt: memory.Instant(l.AcceptedAt),
		QueuedAt: memory.Instant(l.QueuedAt), ProcessedAt: orInstant(l.ProcessedAt),
		WithdrawnAt: orInstant(l.WithdrawnAt), Withheld: l.Withheld, LeftOut: l.LeftOut,
		ExpiresAt: orInstant(l.ExpiresAt), Memory: l.Memory, Scored: l.Scored, Shared: l.Shared,
	}
}

func (l *turnLine) kind() Kind { return Turns }

func (l *turnLine) check(f *faults) {
	l.conversationKey.check(f, "turn.")
	f.id("turn.id", l.ID)
	f.note("turn.client_id", memory.CheckID(l.ClientID, true))
	f.note("turn.agent_id", memory.CheckID(l.AgentID, true))
	inRange(f, "turn.first_event", l.FirstEvent, 1, maxNumber)
	if n := len(l.Messages); n == 0 || n > memory.MaxMessages {
		f.note("turn.messages", fmt.Sprintf("holds %d messages: 1 to %d are allowed", n, memory.MaxMessages))
	}
	for n, m := range l.Messages {
		path := fmt.Sprintf("turn.messages[%d].", n)
		oneOf(f, path+"role", memory.MessageRoles, m.Role)
		f.note(path+"content", memory.CheckMessage(m.Content))
		f.note(path+"id", memory.CheckID(m.ID, true))
		f.note(path+"name", memory.CheckID(m.Name, true))
		if m.Kind != "" {
			oneOf(f, path+"kind", memory.MessageKinds, m.Kind)
		}
		f.optionalTime(path+"at", m.At)
		f.note(path+"tags", memory.CheckTags(m.Tags))
		f.note(path+"raw", memory.CheckRawMessage(compact(m.Raw)))
		inRange(f, path+"tokens", m.Tokens, 0, maxNumber)
	}
	for n, w := range l.Withheld {
		path := fmt.Sprintf("turn.withheld[%d].", n)
		inRange(f, path+"message", w.Message, 0, len(l.Messages)-1)
		f.note(path+"text", memory.CheckMessage(w.Text))
		inRange(f, path+"policy", w.Policy, 0, maxNumber)
		if w.Policy == 0 {
			f.id(path+"statement", w.Statement)
		} else if w.Statement != "" {
			f.note(path+"statement", "does not go with policy")
		}
		f.time(path+"at", w.At)
	}
	for n, o := range l.LeftOut {
		path := fmt.Sprintf("turn.left_out[%d].", n)
		inRange(f, path+"message", o.Message, 0, len(l.Messages)-1)
		oneOf(f, path+"reason", memory.OmissionReasons, o.Reason)
		inRange(f, path+"characters", o.Characters, 1, memory.MaxMessageBytes)
		if o.Level != "" {
			oneOf(f, path+"level", memory.Levels, o.Level)
		}
		inRange(f, path+"policy", o.Policy, 0, maxNumber)
		if o.Rule != "" {
			f.note(path+"rule", memory.CheckName(o.Rule, memory.MaxTagRunes))
		}
	}
	oneOf(f, "turn.memory", memory.Modes, l.Memory)
	f.note("turn.metadata", memory.CheckMetadata(compact(l.Metadata)))
	f.hash("turn.hash", l.Hash)
	oneOf(f, "turn.status", exportedTurns, l.Status)
	inRange(f, "turn.attempts", l.Attempts, 0, maxNumber)
	f.optionalText("turn.last_error", l.LastError, maxError)
	f.optionalText("turn.scored.by", l.Scored.By, maxError)
	inRange(f, "turn.scored.policy", l.Scored.Policy, 0, maxNumber)
	if l.Shared != (memory.Share{}) {
		f.id("turn.shared.turn", l.Shared.Turn)
		f.note("turn.shared.name", memory.CheckID(l.Shared.Name, true))
	}
	f.time("turn.at", l.At)
	f.optionalTime("turn.expires_at", l.ExpiresAt)
	f.time("turn.accepted_at", l.AcceptedAt)
	f.time("turn.queued_at", l.QueuedAt)
	f.optionalTime("turn.processed_at", l.ProcessedAt)
	f.optionalTime("turn.withdrawn_at", l.WithdrawnAt)
	isWithdrawn := l.Status == memory.TurnWithdrawn
	if !isWithdrawn && l.ProcessedAt.IsZero() == (l.Status == memory.TurnProcessed) {
		f.note("turn.processed_at", "goes with the status processed, or withdrawn")
	}
	if l.WithdrawnAt.IsZero() == isWithdrawn {
		f.note("turn.withdrawn_at", "goes with the status withdrawn, and with no other")
	}
}

func (l *turnLine) restore(ctx context.Context, i *importing, tx db.UserTx) (fresh bool, err error) {
	t := l.turn(i.appID)
	if err := l.requireEvent(ctx, tx, t.LastEvent()); err != nil {
		return false, err
	}
	stored, found, err := tx.RecordedTurn(ctx, t.ID)
	if err != nil || found {
		return false, orDifference(err, "turn "+t.ID, turnLineOf(l.FirstTurnID, t), turnLineOf(l.FirstTurnID, stored))
	}
	err = tx.RestoreTurn(ctx, t)
	if errors.Is(err, db.ErrEventsTaken) {
		return true, err
	}
	return true, idTaken(err, "a turn, or the one that its client gave it,")
}
