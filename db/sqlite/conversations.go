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

const conversationColumns = `app_id, user_id, id, began, title, summary, summarised_through, summarised_tokens,
	turns, events, tokens, started_at, last_at, ended_at, end_reason, consolidated_through`

func conversationFields(c *memory.Conversation) []any {
	return []any{&c.AppID, &c.UserID, &c.ID, &c.FirstTurnID, &c.Title, &c.Summary, &c.SummarisedThrough, &c.SummarisedTokens,
		&c.Turns, &c.Events, &c.Tokens, (*instant)(&c.StartedAt), (*instant)(&c.LastAt), (*instant)(&c.EndedAt), &c.EndReason, &c.ConsolidatedThrough}
}

const conversationByID = `SELECT ` + conversationColumns + ` FROM conversations WHERE app_id = ? AND user_id = ? AND id = ?`

// Conversation returns a conversation of a user of the app, or of its only user.
func (s *Store) Conversation(ctx context.Context, appID, userID, id string) (c memory.Conversation, err error) {
	var found []memory.Conversation
	if userID != "" {
		found, err = collect(ctx, s.reader, conversationFields, conversationByID, appID, userID, id)
	} else {
		found, err = collect(ctx, s.reader, conversationFields, `SELECT `+conversationColumns+` FROM conversations
			WHERE app_id = ? AND id = ? ORDER BY user_id LIMIT 2`, appID, id)
	}
	switch {
	case err != nil:
		return c, fault(err, "read the conversation")
	case len(found) == 0:
		return c, notFound("conversation", id)
	case len(found) > 1:
		return c, db.ErrSeveralUsers
	}
	return found[0], nil
}

// ListConversations pages through a user's conversations, the latest first.
func (s *Store) ListConversations(ctx context.Context, f db.ConversationFilter) ([]memory.Conversation, error) {
	var where conditions
	where.add(`app_id = ?`, f.Owner.AppID)
	where.add(`user_id = ?`, f.Owner.UserID)
	switch f.State {
	case db.ConversationOpen:
		where.add(`+ended_at IS NULL`)
	case db.ConversationEnded:
		where.add(`+ended_at IS NOT NULL`)
	}
	if p := f.Before; p != nil {
		where.add(`(last_at, id) < (?, ?)`, moment(p.At), p.ID)
	}
	found, err := collect(ctx, s.reader, conversationFields, `SELECT `+conversationColumns+` FROM conversations WHERE `+where.sql()+
		` ORDER BY last_at DESC, id DESC LIMIT ?`, append(where.args, f.Limit)...)
	return found, fault(err, "list the conversations")
}

// ConversationTurns lists the turns that hold an event above a number.
func (s *Store) ConversationTurns(ctx context.Context, owner memory.Owner, id string, after int64, limit int) ([]memory.Turn, error) {
	turns, err := collect(ctx, s.reader, turnFields, `SELECT `+turnColumns+` FROM turns INDEXED BY turns_of_conversation
		WHERE app_id = ? AND user_id = ? AND conversation_id = ? AND last_event > 0 AND last_event > ?
		ORDER BY last_event LIMIT ?`, owner.AppID, owner.UserID, id, after, limit)
	return turns, fault(err, "list the turns of the conversation")
}

// Idle lists open conversations in which nothing was heard since an instant.
func (s *Store) Idle(ctx context.Context, before time.Time, limit int) ([]memory.Conversation, error) {
	found, err := collect(ctx, s.reader, conversationFields, `SELECT `+conversationColumns+` FROM conversations
		WHERE ended_at IS NULL AND heard_at < ? ORDER BY heard_at LIMIT ?`, moment(before), limit)
	return found, fault(err, "list the idle conversations")
}

// SetTitle gives a conversation a title.
func (s *Store) SetTitle(ctx context.Context, owner memory.Owner, id, title string) (c memory.Conversation, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		c, err = one(ctx, tx, conversationFields, `UPDATE conversations SET title = ?
			WHERE app_id = ? AND user_id = ? AND id = ? RETURNING `+conversationColumns, title, owner.AppID, owner.UserID, id)
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return c, notFound("conversation", id)
	}
	return c, fault(err, "change the title of the conversation")
}

// EndConversation ends an open conversation as it was read, and announces it.
func (s *Store) EndConversation(ctx context.Context, c memory.Conversation, at time.Time, reason string) (ended memory.Conversation, fresh bool, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		ended, err = one(ctx, tx, conversationFields, `UPDATE conversations SET ended_at = ?, end_reason = ?
			WHERE app_id = ? AND user_id = ? AND id = ? AND began = ? AND events = ? AND ended_at IS NULL RETURNING `+conversationColumns,
			moment(at), reason, c.AppID, c.UserID, c.ID, c.FirstTurnID, c.Events)
		if fresh = err == nil; fresh {
			return announce(ctx, tx, c.Owner, rowcodec.EndedConversation(ended))
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if ended, err = one(ctx, tx, conversationFields, conversationByID, c.AppID, c.UserID, c.ID); err == nil && !ended.SameEvents(c) {
			return db.ErrConversationChanged
		}
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return memory.Conversation{}, false, notFound("conversation", c.ID)
	}
	if err != nil {
		return memory.Conversation{}, false, fault(err, "end the conversation")
	}
	return ended, fresh, nil
}

// Summarise replaces the running summary, where it is still the one that was read.
func (s *Store) Summarise(ctx context.Context, c, next memory.Conversation) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `UPDATE conversations SET summary = ?, summarised_through = ?, summarised_tokens = ?
			WHERE app_id = ? AND user_id = ? AND id = ? AND began = ? AND summarised_through = ?`,
			next.Summary, next.SummarisedThrough, next.SummarisedTokens, c.AppID, c.UserID, c.ID, c.FirstTurnID, c.SummarisedThrough)
		if err != nil || affected(result) == 1 {
			return err
		}
		if _, err := one(ctx, tx, conversationFields, conversationByID, c.AppID, c.UserID, c.ID); err != nil {
			return err
		}
		return db.ErrSummarised
	})
	if errors.Is(err, sql.ErrNoRows) {
		return notFound("conversation", c.ID)
	}
	return fault(err, "summarise the conversation")
}

// DeleteConversation deletes a conversation with its turns and their candidates.
func (s *Store) DeleteConversation(ctx context.Context, owner memory.Owner, id string) (gone db.DeletedConversation, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `DELETE FROM conversations WHERE app_id = ? AND user_id = ? AND id = ?`, owner.AppID, owner.UserID, id)
		if err != nil {
			return err
		}
		if affected(result) == 0 {
			return notFound("conversation", id)
		}
		const ofIt = ` FROM turns INDEXED BY turns_of_conversation WHERE app_id = ? AND user_id = ? AND conversation_id = ? AND last_event > 0`
		candidates, err := tx.ExecContext(ctx, `DELETE FROM candidates WHERE turn_id IN (SELECT id`+ofIt+`)`, owner.AppID, owner.UserID, id)
		if err != nil {
			return err
		}
		turns, err := tx.ExecContext(ctx, `DELETE`+ofIt, owner.AppID, owner.UserID, id)
		if err != nil {
			return err
		}
		gone = db.DeletedConversation{Turns: int(affected(turns)), Candidates: int(affected(candidates))}
		return nil
	})
	if err != nil {
		return db.DeletedConversation{}, fault(err, "delete the conversation")
	}
	return gone, nil
}
