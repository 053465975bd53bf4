package exchange

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
)

// conversationLine is a conversation. Like a turnLine, it is not the body of the API. Its turns follow in their order,
// then its consolidations, the newest first.
type conversationLine struct {
	ID                  string    `json:"id"`
	UserID              string    `json:"user_id"`
	FirstTurnID         string    `json:"began"`
	Title               string    `json:"title,omitempty"`
	Summary             string    `json:"summary,omitempty"`
	SummarisedThrough   int64     `json:"summarised_through,omitempty"`
	SummarisedTokens    int64     `json:"summarised_tokens,omitempty"`
	ConsolidatedThrough int64     `json:"consolidated_through,omitempty"`
	Turns               int64     `json:"turns"`
	Events              int64     `json:"events"`
	Tokens              int64     `json:"tokens"`
	StartedAt           time.Time `json:"started_at"`
	LastAt              time.Time `json:"last_at"`
	EndedAt             time.Time `json:"ended_at,omitzero"`
	EndReason           string    `json:"end_reason,omitempty"`
}

func conversationLineOf(c memory.Conversation) conversationLine {
	return conversationLine{
		ID: c.ID, UserID: c.UserID, FirstTurnID: c.FirstTurnID, Title: c.Title, Summary: c.Summary,
		SummarisedThrough: c.SummarisedThrough, SummarisedTokens: c.SummarisedTokens,
		ConsolidatedThrough: c.ConsolidatedThrough, Turns: c.Turns, Events: c.Events, Tokens: c.Tokens,
		StartedAt: c.StartedAt, LastAt: c.LastAt, EndedAt: c.EndedAt, EndReason: c.EndReason,
	}
}

func (l *conversationLine) conversation(appID string) memory.Conversation {
	return memory.Conversation{
		ID: l.ID, Owner: memory.Owner{AppID: appID, UserID: l.UserID}, FirstTurnID: l.FirstTurnID,
		Title: l.Title, Summary: l.Summary, SummarisedThrough: l.SummarisedThrough, SummarisedTokens: l.SummarisedTokens,
		ConsolidatedThrough: l.ConsolidatedThrough, Turns: l.Turns, Events: l.Events, Tokens: l.Tokens,
		StartedAt: memory.Instant(l.StartedAt), LastAt: memory.Instant(l.LastAt),
		EndedAt: orInstant(l.EndedAt), EndReason: l.EndReason,
	}
}

func (l *conversationLine) kind() Kind             { return Conversations }
func (l *conversationLine) user() string           { return l.UserID }
func (l *conversationLine) conversationID() string { return l.ID }

func (l *conversationLine) check(f *faults) {
	f.note("conversation.id", memory.CheckID(l.ID, false))
	f.note("conversation.user_id", memory.CheckID(l.UserID, false))
	f.id("conversation.began", l.FirstTurnID)
	if l.Title != "" {
		f.note("conversation.title", memory.CheckTitle(l.Title))
	}
	f.optionalText("conversation.summary", l.Summary, maxSummary)
	inRange(f, "conversation.events", l.Events, 0, maxNumber)
	inRange(f, "conversation.tokens", l.Tokens, 0, maxNumber)
	inRange(f, "conversation.turns", l.Turns, 1, maxNumber)
	inRange(f, "conversation.summarised_through", l.SummarisedThrough, 0, l.Events)
	inRange(f, "conversation.summarised_tokens", l.SummarisedTokens, 0, l.Tokens)
	inRange(f, "conversation.consolidated_through", l.ConsolidatedThrough, 0, l.Events)
	f.time("conversation.started_at", l.StartedAt)
	f.time("conversation.last_at", l.LastAt)
	f.optionalTime("conversation.ended_at", l.EndedAt)
	f.optionalText("conversation.end_reason", l.EndReason, maxCause)
	if l.EndedAt.IsZero() && l.EndReason != "" {
		f.note("conversation.end_reason", "is given, though it has not ended")
	}
}

func (l *conversationLine) restore(ctx context.Context, i *importing, tx db.UserTx) (fresh bool, err error) {
	c := l.conversation(i.appID)
	stored, found, err := tx.RecordedConversation(ctx, c.ID)
	if err != nil || found {
		return false, orDifference(err, "this conversation", conversationLineOf(c), conversationLineOf(stored))
	}
	return true, tx.RestoreConversation(ctx, c, memory.Instant(i.now()))
}

// conversationKey names the conversation that a turn or a consolidation belongs
// to. Its first turn distinguishes it from a later conversation with the same id.
type conversationKey struct {
	UserID         string `json:"user_id"`
	ConversationID string `json:"conversation_id"`
	FirstTurnID    string `json:"began"`
}

func (k *conversationKey) user() string           { return k.UserID }
func (k *conversationKey) conversationID() string { return k.ConversationID }

func (k *conversationKey) check(f *faults, path string) {
	f.note(path+"user_id", memory.CheckID(k.UserID, false))
	f.note(path+"conversation_id", memory.CheckID(k.ConversationID, false))
	f.id(path+"began", k.FirstTurnID)
}

// requireEvent returns an error of KindConflict unless the conversation is stored
// and has an event of a number.
func (k *conversationKey) requireEvent(ctx context.Context, tx db.UserTx, event int64) error {
	stored, found, err := tx.RecordedConversation(ctx, k.ConversationID)
	if err != nil || !found || stored.FirstTurnID != k.FirstTurnID || stored.Events < event {
		return orConflict(err, "is of a conversation that is not here, or is another one here: nothing was overwritten")
	}
	return nil
}

// consolidationLine is a finished consolidation, so that its events are not
// consolidated again.
type consolidationLine struct {
	conversationKey
	wire.Consolidation
}

var (
	triggers = []memory.ConsolidationTrigger{
		memory.TriggerImportant, memory.TriggerFull, memory.TriggerSchedule, memory.TriggerEnd, memory.TriggerIdle,
		memory.TriggerRequest,
	}
	exportedConsolidations = []memory.ConsolidationState{memory.ConsolidationDone, memory.ConsolidationSkipped}
)

func consolidationLineOf(firstTurnID string, c memory.Consolidation) consolidationLine {
	c.Counts = compact(c.Counts)
	l := consolidationLine{conversationKey{c.UserID, c.ConversationID, firstTurnID}, wire.ConsolidationOf(c)}
	if c.Attempts == 0 {
		l.Attempts = nil
	}
	return l
}

func (l *consolidationLine) attempts() int {
	if l.Attempts == nil {
		return 0
	}
	return *l.Attempts
}

func (l *consolidationLine) consolidation(appID string) memory.Consolidation {
	return memory.Consolidation{
		ID: l.ID, Owner: memory.Owner{AppID: appID, UserID: l.UserID}, ConversationID: l.ConversationID,
		Type: l.Type, Trigger: l.Trigger, State: l.State, From: l.From, Through: l.Through, Counts: compact(l.Counts),
		Error: l.Error, Attempts: l.attempts(), CreatedAt: memory.Instant(l.CreatedAt),
		StartedAt: orInstant(l.StartedAt), EndedAt: orInstant(l.EndedAt),
	}
}

func (l *consolidationLine) kind() Kind { return Consolidations }

func (l *consolidationLine) check(f *faults) {
	l.conversationKey.check(f, "consolidation.")
	f.id("consolidation.id", l.ID)
	oneOf(f, "consolidation.type", memory.ConsolidationTypes, l.Type)
	oneOf(f, "consolidation.trigger", triggers, l.Trigger)
	oneOf(f, "consolidation.state", exportedConsolidations, l.State)
	inRange(f, "consolidation.through_event", l.Through, 1, maxNumber)
	inRange(f, "consolidation.from_event", l.From, 1, l.Through)
	f.note("consolidation.counts", memory.CheckMetadata(compact(l.Counts)))
	f.optionalText("consolidation.error", l.Error, maxError)
	inRange(f, "consolidation.attempts", l.attempts(), 0, maxNumber)
	f.time("consolidation.created_at", l.CreatedAt)
	f.optionalTime("consolidation.started_at", l.StartedAt)
	f.optionalTime("consolidation.ended_at", l.EndedAt)
}

func (l *consolidationLine) restore(ctx context.Context, i *importing, tx db.UserTx) (fresh bool, err error) {
	c := l.consolidation(i.appID)
	if err := l.requireEvent(ctx, tx, c.Through); err != nil {
		return false, err
	}
	stored, found, err := tx.RecordedConsolidation(ctx, c.ID)
	if err != nil || found {
		return false, orDifference(err, "consolidation "+c.ID,
			consolidationLineOf(l.FirstTurnID, c), consolidationLineOf(l.FirstTurnID, stored))
	}
	return true, idTaken(tx.PlanConsolidation(ctx, c), "a consolidation, or its place,")
}
