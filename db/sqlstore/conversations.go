package sqlstore

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

const (
	conversationColumns = `app_id, user_id, id, began, title, summary, summarised_through, summarised_tokens,
	turns, events, tokens, started_at, last_at, ended_at, end_reason, consolidated_through, edition`
	selectConversations = `SELECT ` + conversationColumns + ofConversation + ` FROM conversations WHERE `
	conversationByID    = selectConversations + `app_id = $1 AND user_id = $2 AND id = $3`
)

func conversationFields(c *memory.Conversation) []any {
	return []any{&c.AppID, &c.UserID, &c.ID, &c.FirstTurnID, &c.Title, &c.Summary, &c.SummarisedThrough,
		&c.SummarisedTokens,
		&c.Turns, &c.Events, &c.Tokens, &c.StartedAt, &c.LastAt, &c.EndedAt, &c.EndReason, &c.ConsolidatedThrough,
		&c.Edition, &c.Memory}
}

func (s *Store) Conversation(ctx context.Context, appID, userID, id string) (memory.Conversation, error) {
	if userID != "" {
		return conversation(ctx, s.conn, appID, userID, id)
	}
	found, err := collect(ctx, s.conn, conversationFields,
		selectConversations+`app_id = $1 AND id = $2 ORDER BY user_id LIMIT 2`, appID, id)
	if len(found) > 1 {
		return memory.Conversation{}, db.ErrSeveralUsers
	}
	return append(found, memory.Conversation{})[0],
		s.require(len(found) == 1, err, "read the conversation", NotFound("conversation", id))
}

func conversation(ctx context.Context, c conn, appID, userID, id string) (memory.Conversation, error) {
	found, ok, err := first(ctx, c, conversationFields, conversationByID, appID, userID, id)
	return found, c.require(ok, err, "read the conversation", NotFound("conversation", id))
}

func (s *Store) ListConversations(ctx context.Context, f db.ConversationFilter) ([]memory.Conversation, error) {
	var where Conditions
	where.Add(`app_id = ? AND user_id = ?`, f.Owner.AppID, f.Owner.UserID)
	switch f.State {
	case db.ConversationOpen:
		where.Add(`{|+}ended_at IS NULL`)
	case db.ConversationEnded:
		where.Add(`{|+}ended_at IS NOT NULL`)
	}
	if p := f.Before; p != nil {
		where.Add(`(last_at, id) < (?, ?)`, p.At, p.ID)
	}
	found, err := page(ctx, s.conn, conversationFields, selectConversations, where, `last_at DESC, id DESC`, f.Limit)
	return found, s.fault(err, "list the conversations")
}

func (s *Store) Idle(ctx context.Context, before time.Time, limit int) ([]memory.Conversation, error) {
	found, err := collect(ctx, s.conn, conversationFields,
		selectConversations+`ended_at IS NULL AND heard_at < $1 ORDER BY heard_at LIMIT $2`, before, limit)
	return found, s.fault(err, "list the idle conversations")
}

func (s *Store) SetTitle(ctx context.Context, owner memory.Owner, id, title string) (c memory.Conversation, err error) {
	var ok bool
	err = s.transact(ctx, func(tx tx) (err error) {
		c, ok, err = first(ctx, tx.conn, conversationFields, `UPDATE conversations SET title = $4
			WHERE app_id = $1 AND user_id = $2 AND id = $3 RETURNING `+conversationColumns+ofConversation,
			owner.AppID, owner.UserID, id, title)
		return err
	})
	return c, s.require(ok, err, "change the title of the conversation", NotFound("conversation", id))
}

func (s *Store) EndConversation(
	ctx context.Context, c memory.Conversation, at time.Time, reason string,
) (ended memory.Conversation, fresh bool, err error) {
	err = s.transact(ctx, func(tx tx) (err error) {
		ended, fresh, err = first(ctx, tx.conn, conversationFields, `UPDATE conversations SET ended_at = $6, end_reason = $7
			WHERE app_id = $1 AND user_id = $2 AND id = $3 AND began = $4 AND events = $5 AND ended_at IS NULL
			RETURNING `+conversationColumns+ofConversation,
			c.AppID, c.UserID, c.ID, c.FirstTurnID, c.Events, at, reason)
		if err != nil {
			return err
		}
		if fresh {
			return tx.announce(ctx, c.Owner, endedConversation(ended))
		}
		ended, err = conversation(ctx, tx.conn, c.AppID, c.UserID, c.ID)
		if err == nil && (ended.EndedAt.IsZero() || !ended.SameEvents(c)) {
			return db.ErrConversationChanged
		}
		return err
	})
	if err != nil {
		return memory.Conversation{}, false, s.fault(err, "end the conversation")
	}
	return ended, fresh, nil
}

func (s *Store) Summarise(ctx context.Context, c, next memory.Conversation) error {
	n, err := s.exec(ctx, `UPDATE conversations SET summary = $6, summarised_through = $7, summarised_tokens = $8
		WHERE app_id = $1 AND user_id = $2 AND id = $3 AND began = $4 AND summarised_through = $5
			AND edition = $9`,
		c.AppID, c.UserID, c.ID, c.FirstTurnID, c.SummarisedThrough, next.Summary, next.SummarisedThrough,
		next.SummarisedTokens, c.Edition)
	if err != nil || n == 1 {
		return s.fault(err, "summarise the conversation")
	}
	_, err = s.Conversation(ctx, c.AppID, c.UserID, c.ID)
	return s.require(false, err, "summarise the conversation", db.ErrSummarised)
}

// DeleteConversation deletes a conversation with its turns and their
// candidates. The conversation is deleted first: a turn that is accepted at the
// same time waits for its row, and then starts a new conversation.
func (s *Store) DeleteConversation(
	ctx context.Context, owner memory.Owner, id string,
) (gone db.DeletedConversation, err error) {
	err = s.transact(ctx, func(tx tx) error {
		gone = db.DeletedConversation{}
		n, err := tx.exec(ctx, `DELETE FROM conversations WHERE app_id = $1 AND user_id = $2 AND id = $3`,
			owner.AppID, owner.UserID, id)
		if err := s.require(n > 0, err, "delete the conversation", NotFound("conversation", id)); err != nil {
			return err
		}
		const itsTurns = ` FROM turns{| INDEXED BY turns_of_conversation}
			WHERE app_id = $1 AND user_id = $2 AND conversation_id = $3 AND last_event > 0`
		gone.Candidates, err = tx.exec(ctx, `DELETE FROM candidates WHERE turn_id IN (SELECT id`+itsTurns+`)`,
			owner.AppID, owner.UserID, id)
		if err == nil {
			gone.Turns, err = tx.exec(ctx, `DELETE`+itsTurns, owner.AppID, owner.UserID, id)
		}
		for _, table := range []string{"message_ids", "user_modes"} {
			if err == nil {
				_, err = tx.exec(ctx, `DELETE FROM `+table+` WHERE app_id = $1 AND user_id = $2 AND conversation_id = $3`,
					owner.AppID, owner.UserID, id)
			}
		}
		return err
	})
	if err != nil {
		return db.DeletedConversation{}, s.fault(err, "delete the conversation")
	}
	return gone, nil
}

func (s *Store) ExportConversations(
	ctx context.Context, of db.Extent, after *memory.Conversation,
) ([]memory.Conversation, error) {
	where := within(of)
	if a := after; a != nil {
		where.Add(`(user_id, id) > (?, ?)`, a.UserID, a.ID)
	}
	found, err := page(ctx, s.conn, conversationFields, selectConversations, where, `user_id, id`, of.Limit)
	return found, s.fault(err, "export the conversations")
}

func (u *UserTx) RecordedConversation(ctx context.Context, id string) (memory.Conversation, bool, error) {
	c, ok, err := first(ctx, u.conn, conversationFields, conversationByID, u.Owner.AppID, u.Owner.UserID, id)
	return c, ok, u.fault(err, "read the conversation")
}

func (u *UserTx) RestoreConversation(ctx context.Context, c memory.Conversation, heard time.Time) error {
	_, err := u.exec(ctx, `INSERT INTO conversations (`+conversationColumns+`, heard_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`,
		u.Owner.AppID, u.Owner.UserID, c.ID, c.FirstTurnID, c.Title, c.Summary, c.SummarisedThrough, c.SummarisedTokens,
		c.Turns, c.Events, c.Tokens, c.StartedAt, c.LastAt, null(c.EndedAt), c.EndReason, c.ConsolidatedThrough, c.Edition,
		heard)
	return u.fault(err, "store the conversation")
}

func (u *UserTx) ContinueConversation(
	ctx context.Context, next memory.Conversation, events int64, heard time.Time,
) error {
	n, err := u.exec(ctx, `UPDATE conversations SET turns = $6, events = $7, tokens = $8, last_at = $9, ended_at = $10,
			end_reason = $11, consolidated_through = {greatest|max}(consolidated_through, $12), heard_at = $13
		WHERE app_id = $1 AND user_id = $2 AND id = $3 AND began = $4 AND events = $5`,
		u.Owner.AppID, u.Owner.UserID, next.ID, next.FirstTurnID, events, next.Turns, next.Events, next.Tokens, next.LastAt,
		null(next.EndedAt), next.EndReason, next.ConsolidatedThrough, heard)
	if err == nil && n == 0 {
		err = db.ErrConversationChanged
	}
	return u.fault(err, "continue the conversation")
}

func (u *UserTx) ReviseConversation(ctx context.Context, id string, r db.ConversationRevision) error {
	_, err := u.exec(ctx, `UPDATE conversations SET edition = edition + 1,
			title = CASE WHEN title = $4 THEN $5 ELSE title END,
			summary = CASE WHEN summarised_through >= $6 THEN '' ELSE summary END,
			summarised_tokens = CASE WHEN summarised_through >= $6 THEN 0 ELSE summarised_tokens END,
			summarised_through = CASE WHEN summarised_through >= $6 THEN 0 ELSE summarised_through END
		WHERE app_id = $1 AND user_id = $2 AND id = $3`,
		u.Owner.AppID, u.Owner.UserID, id, r.Title, r.Retitled, r.From)
	return u.fault(err, "revise the conversation")
}

func (s *Store) Unconsolidated(
	ctx context.Context, after memory.Conversation, limit int,
) ([]memory.Conversation, error) {
	found, err := collect(ctx, s.conn, conversationFields, `SELECT `+conversationColumns+ofConversation+`
		FROM conversations{| INDEXED BY conversations_unconsolidated}
		WHERE consolidated_through < events AND (app_id, user_id, id) > ($1, $2, $3)
		ORDER BY app_id, user_id, id LIMIT $4`, after.AppID, after.UserID, after.ID, limit)
	return found, s.fault(err, "list the conversations to consolidate")
}
