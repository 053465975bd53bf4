package exchange

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// conversationLine is a conversation without what was said in it, which
// follows: its turns in their order, then its consolidations, the newest first.
type conversationLine struct {
	ID                  string    `json:"id"`
	UserID              string    `json:"user_id"`
	Began               string    `json:"began"` // the turn that began it
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
		ID: c.ID, UserID: c.UserID, Began: c.FirstTurnID, Title: c.Title, Summary: c.Summary, SummarisedThrough: c.SummarisedThrough,
		SummarisedTokens: c.SummarisedTokens, ConsolidatedThrough: c.ConsolidatedThrough, Turns: c.Turns, Events: c.Events, Tokens: c.Tokens,
		StartedAt: c.StartedAt, LastAt: c.LastAt, EndedAt: c.EndedAt, EndReason: c.EndReason,
	}
}

func (l *conversationLine) conversation(appID string) memory.Conversation {
	return memory.Conversation{
		ID: l.ID, Owner: memory.Owner{AppID: appID, UserID: l.UserID}, FirstTurnID: l.Began, Title: l.Title, Summary: l.Summary,
		SummarisedThrough: l.SummarisedThrough, SummarisedTokens: l.SummarisedTokens, ConsolidatedThrough: l.ConsolidatedThrough,
		Turns: l.Turns, Events: l.Events, Tokens: l.Tokens, StartedAt: memory.Instant(l.StartedAt), LastAt: memory.Instant(l.LastAt),
		EndedAt: orInstant(l.EndedAt), EndReason: l.EndReason,
	}
}

func (l *conversationLine) kind() Kind { return Conversations }

func (l *conversationLine) check(c *complaints) {
	c.note("conversation.id", memory.CheckID(l.ID, false))
	c.note("conversation.user_id", memory.CheckID(l.UserID, false))
	c.id("conversation.began", l.Began)
	if l.Title != "" {
		c.note("conversation.title", memory.CheckTitle(l.Title))
	}
	c.textOrNone("conversation.summary", l.Summary, maxSummary)
	c.number("conversation.events", l.Events, 0, maxNumber)
	c.number("conversation.tokens", l.Tokens, 0, maxNumber)
	c.number("conversation.turns", l.Turns, 1, maxNumber)
	c.number("conversation.summarised_through", l.SummarisedThrough, 0, l.Events)
	c.number("conversation.summarised_tokens", l.SummarisedTokens, 0, l.Tokens)
	c.number("conversation.consolidated_through", l.ConsolidatedThrough, 0, l.Events)
	c.time("conversation.started_at", l.StartedAt)
	c.time("conversation.last_at", l.LastAt)
	c.timeOrNone("conversation.ended_at", l.EndedAt)
	c.textOrNone("conversation.end_reason", l.EndReason, maxCause)
	if l.EndedAt.IsZero() && l.EndReason != "" {
		c.note("conversation.end_reason", "is given, though it has not ended")
	}
}

func (l *conversationLine) wait(ctx context.Context, i *importing, number, size int) error {
	told := l.conversation(i.appID)
	return i.waitForUser(ctx, l.UserID, number, size, Conversations, func(ctx context.Context, tx db.UserTx) (bool, error) {
		is, ok, err := tx.RecordedConversation(ctx, told.ID)
		if err != nil {
			return false, err
		}
		if ok {
			return false, same("this conversation", conversationLineOf(told), conversationLineOf(is))
		}
		return true, tx.RestoreConversation(ctx, told, memory.Instant(i.now()))
	})
}

// talk names the conversation that a turn or a consolidation belongs to, and
// the turn that began it: one that was begun anew is another one.
type talk struct {
	UserID         string `json:"user_id"`
	ConversationID string `json:"conversation_id"`
	Began          string `json:"began"`
}

func (t talk) check(c *complaints, path string) {
	c.note(path+"user_id", memory.CheckID(t.UserID, false))
	c.note(path+"conversation_id", memory.CheckID(t.ConversationID, false))
	c.id(path+"began", t.Began)
}

// holds makes sure that the conversation is here and has an event of a number.
// KindConflict: it is not, or is another one.
func (t talk) holds(ctx context.Context, tx db.UserTx, event int64) error {
	is, ok, err := tx.RecordedConversation(ctx, t.ConversationID)
	if err != nil || !ok || is.FirstTurnID != t.Began || is.Events < event {
		return orConflict(err, "is of a conversation that is not here, or is another one here: nothing was overwritten")
	}
	return nil
}
