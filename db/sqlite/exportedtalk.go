package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// within begins the conditions of an extent.
func within(of db.Extent) (where conditions) {
	where.add(`app_id = ?`, of.AppID)
	if of.UserID != "" {
		where.add(`user_id = ?`, of.UserID)
	}
	return where
}

// ExportConversations pages through the conversations of an app's users.
func (s *Store) ExportConversations(ctx context.Context, of db.Extent, after *memory.Conversation) ([]memory.Conversation, error) {
	where := within(of)
	if a := after; a != nil {
		where.add(`(user_id, id) > (?, ?)`, a.UserID, a.ID)
	}
	found, err := collect(ctx, s.reader, conversationFields, `SELECT `+conversationColumns+` FROM conversations WHERE `+where.sql()+
		` ORDER BY user_id, id LIMIT ?`, append(where.args, of.Limit)...)
	return found, fault(err, "export the conversations")
}

// recordedOne is one for a row that need not exist.
func recordedOne[T any](ctx context.Context, u *userTx, fields func(*T) []any, query string, args ...any) (item T, ok bool, err error) {
	item, err = one(ctx, u.tx, fields, query, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return item, false, nil
	}
	return item, err == nil, fault(err, "read what is recorded")
}

// RecordedConversation returns a conversation of the owner.
func (u *userTx) RecordedConversation(ctx context.Context, id string) (memory.Conversation, bool, error) {
	return recordedOne(ctx, u, conversationFields, conversationByID, u.Owner.AppID, u.Owner.UserID, id)
}

// RecordedTurn returns a turn of the owner.
func (u *userTx) RecordedTurn(ctx context.Context, id string) (memory.Turn, bool, error) {
	return recordedOne(ctx, u, turnFields, `SELECT `+turnColumns+` FROM turns WHERE id = ? AND +app_id = ? AND +user_id = ?`,
		id, u.Owner.AppID, u.Owner.UserID)
}

// RecordedConsolidation returns a consolidation of the owner.
func (u *userTx) RecordedConsolidation(ctx context.Context, id string) (memory.Consolidation, bool, error) {
	return recordedOne(ctx, u, consolidationFields, `SELECT `+consolidationColumns+` FROM consolidation_jobs
		WHERE id = ? AND +app_id = ? AND +user_id = ?`, id, u.Owner.AppID, u.Owner.UserID)
}

// RestoreConversation stores a new conversation as it is.
func (u *userTx) RestoreConversation(ctx context.Context, c memory.Conversation, heard time.Time) error {
	_, err := u.tx.ExecContext(ctx, `
		INSERT INTO conversations (app_id, user_id, id, began, title, summary, summarised_through, summarised_tokens,
			turns, events, tokens, started_at, last_at, heard_at, ended_at, end_reason, consolidated_through)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		u.Owner.AppID, u.Owner.UserID, c.ID, c.FirstTurnID, c.Title, c.Summary, c.SummarisedThrough, c.SummarisedTokens,
		c.Turns, c.Events, c.Tokens, moment(c.StartedAt), moment(c.LastAt), moment(heard), instant(c.EndedAt), c.EndReason, c.ConsolidatedThrough)
	return fault(err, "store the conversation")
}

// RestoreTurn stores a new turn of a conversation as it is.
func (u *userTx) RestoreTurn(ctx context.Context, t memory.Turn) error {
	messages, err := rowcodec.MessagesJSON(t.Messages)
	if err != nil {
		return memory.Errorf(memory.KindInvalid, "write the messages as JSON: %w", err)
	}
	_, err = u.tx.ExecContext(ctx, insertTalk, t.ID, u.Owner.AppID, u.Owner.UserID, t.ClientID, t.AgentID, t.ConversationID,
		string(messages), jsonText(t.Metadata), moment(t.At), t.Hash, t.Status, t.Attempts, rowcodec.Storable(t.LastError),
		moment(t.AcceptedAt), moment(t.QueuedAt), instant(t.ProcessedAt), moment(t.QueuedAt), t.FirstEvent, t.LastEvent())
	return fault(err, "store the turn")
}
