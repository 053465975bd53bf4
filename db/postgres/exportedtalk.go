package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

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
	found, err := conversations(ctx, s.pool, `SELECT `+conversationColumns+` FROM conversations WHERE `+where.sql()+
		` ORDER BY user_id, id LIMIT `+where.arg(of.Limit), where.args...)
	return found, fault(err, "export the conversations")
}

// RecordedConversation returns a conversation of the owner.
func (u *userTx) RecordedConversation(ctx context.Context, id string) (memory.Conversation, bool, error) {
	found, err := conversations(ctx, u.tx, `SELECT `+conversationColumns+` FROM conversations
		WHERE app_id = $1 AND user_id = $2 AND id = $3`, u.Owner.AppID, u.Owner.UserID, id)
	return append(found, memory.Conversation{})[0], len(found) == 1, fault(err, "read the conversation")
}

// RecordedTurn returns a turn of the owner.
func (u *userTx) RecordedTurn(ctx context.Context, id string) (memory.Turn, bool, error) {
	rows, _ := u.tx.Query(ctx, `SELECT `+turnColumns+` FROM turns WHERE id = $3 AND app_id = $1 AND user_id = $2`, u.Owner.AppID, u.Owner.UserID, id)
	found, err := pgx.CollectRows(rows, scanTurn)
	return append(found, memory.Turn{})[0], len(found) == 1, fault(err, "read the turn")
}

// RecordedConsolidation returns a consolidation of the owner.
func (u *userTx) RecordedConsolidation(ctx context.Context, id string) (memory.Consolidation, bool, error) {
	found, err := consolidations(ctx, u.tx, `id = $3 AND app_id = $1 AND user_id = $2`, u.Owner.AppID, u.Owner.UserID, id)
	return append(found, memory.Consolidation{})[0], len(found) == 1, fault(err, "read the consolidation")
}

// RestoreConversation stores a new conversation as it is.
func (u *userTx) RestoreConversation(ctx context.Context, c memory.Conversation, heard time.Time) error {
	_, err := u.tx.Exec(ctx, `
		INSERT INTO conversations (app_id, user_id, id, began, title, summary, summarised_through, summarised_tokens,
			turns, events, tokens, started_at, last_at, heard_at, ended_at, end_reason, consolidated_through)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
		u.Owner.AppID, u.Owner.UserID, c.ID, c.FirstTurnID, c.Title, c.Summary, c.SummarisedThrough, c.SummarisedTokens,
		c.Turns, c.Events, c.Tokens, c.StartedAt, c.LastAt, heard, orNull(c.EndedAt), c.EndReason, c.ConsolidatedThrough)
	return fault(err, "store the conversation")
}

// RestoreTurn stores a new turn of a conversation as it is.
func (u *userTx) RestoreTurn(ctx context.Context, t memory.Turn) error {
	messages, err := rowcodec.MessagesJSON(t.Messages)
	if err != nil {
		return memory.Errorf(memory.KindInvalid, "write the messages as JSON: %w", err)
	}
	_, err = u.tx.Exec(ctx, `
		INSERT INTO turns (id, app_id, user_id, client_id, agent_id, conversation_id, messages, metadata,
			said_at, hash, status, attempts, last_error, accepted_at, queued_at, processed_at, due_at, first_event, last_event)
		VALUES ($1, $2, $3, nullif($4, ''), $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $15, $17, $18)`,
		t.ID, u.Owner.AppID, u.Owner.UserID, t.ClientID, t.AgentID, t.ConversationID, messages, t.Metadata,
		t.At, t.Hash, t.Status, t.Attempts, rowcodec.Storable(t.LastError), t.AcceptedAt, t.QueuedAt, orNull(t.ProcessedAt),
		t.FirstEvent, t.LastEvent())
	return fault(err, "store the turn")
}
