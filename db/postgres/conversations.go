package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const conversationColumns = `app_id, user_id, id, began, title, summary, summarised_through, summarised_tokens,
	turns, events, tokens, started_at, last_at, ended_at, end_reason, consolidated_through`

func scanConversation(row pgx.CollectableRow) (c memory.Conversation, err error) {
	var ended *time.Time
	err = row.Scan(&c.AppID, &c.UserID, &c.ID, &c.FirstTurnID, &c.Title, &c.Summary, &c.SummarisedThrough, &c.SummarisedTokens,
		&c.Turns, &c.Events, &c.Tokens, &c.StartedAt, &c.LastAt, &ended, &c.EndReason, &c.ConsolidatedThrough)
	c.EndedAt = orZero(ended)
	return c, err
}

// conversations runs a query on the pool or within a transaction.
func conversations(ctx context.Context, q querier, sql string, args ...any) ([]memory.Conversation, error) {
	rows, _ := q.Query(ctx, sql, args...) // a failed query reports its error through the rows
	return pgx.CollectRows(rows, scanConversation)
}

// Conversation returns a conversation of a user of the app, or of its only user.
func (s *Store) Conversation(ctx context.Context, appID, userID, id string) (c memory.Conversation, err error) {
	var found []memory.Conversation
	if userID != "" {
		found, err = conversations(ctx, s.pool, `SELECT `+conversationColumns+` FROM conversations
			WHERE app_id = $1 AND user_id = $2 AND id = $3`, appID, userID, id)
	} else {
		found, err = conversations(ctx, s.pool, `SELECT `+conversationColumns+` FROM conversations
			WHERE app_id = $1 AND id = $2 ORDER BY user_id LIMIT 2`, appID, id)
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
		where.add(`ended_at IS NULL`)
	case db.ConversationEnded:
		where.add(`ended_at IS NOT NULL`)
	}
	if p := f.Before; p != nil {
		where.add(`(last_at, id) < (?, ?)`, p.At, p.ID)
	}
	found, err := conversations(ctx, s.pool, `SELECT `+conversationColumns+` FROM conversations WHERE `+where.sql()+
		` ORDER BY last_at DESC, id DESC LIMIT `+where.arg(f.Limit), where.args...)
	return found, fault(err, "list the conversations")
}

// ConversationTurns lists the turns that hold an event above a number.
func (s *Store) ConversationTurns(ctx context.Context, owner memory.Owner, id string, after int64, limit int) ([]memory.Turn, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+turnColumns+` FROM turns
		WHERE app_id = $1 AND user_id = $2 AND conversation_id = $3 AND last_event > greatest($4::bigint, 0)
		ORDER BY last_event LIMIT $5`, owner.AppID, owner.UserID, id, after, limit)
	turns, err := pgx.CollectRows(rows, scanTurn)
	return turns, fault(err, "list the turns of the conversation")
}

// Idle lists open conversations in which nothing was heard since an instant.
func (s *Store) Idle(ctx context.Context, before time.Time, limit int) ([]memory.Conversation, error) {
	found, err := conversations(ctx, s.pool, `SELECT `+conversationColumns+` FROM conversations
		WHERE ended_at IS NULL AND heard_at < $1 ORDER BY heard_at LIMIT $2`, before, limit)
	return found, fault(err, "list the idle conversations")
}

// SetTitle gives a conversation a title.
func (s *Store) SetTitle(ctx context.Context, owner memory.Owner, id, title string) (memory.Conversation, error) {
	changed, err := conversations(ctx, s.pool, `UPDATE conversations SET title = $4
		WHERE app_id = $1 AND user_id = $2 AND id = $3 RETURNING `+conversationColumns, owner.AppID, owner.UserID, id, title)
	if err == nil && len(changed) == 0 {
		return memory.Conversation{}, notFound("conversation", id)
	}
	if err != nil {
		return memory.Conversation{}, fault(err, "change the title of the conversation")
	}
	return changed[0], nil
}

// EndConversation ends an open conversation as it was read, and announces it.
func (s *Store) EndConversation(ctx context.Context, c memory.Conversation, at time.Time, reason string) (ended memory.Conversation, fresh bool, err error) {
	var changed []memory.Conversation
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		changed, err = conversations(ctx, tx, `UPDATE conversations SET ended_at = $6, end_reason = $7
			WHERE app_id = $1 AND user_id = $2 AND id = $3 AND began = $4 AND events = $5 AND ended_at IS NULL RETURNING `+conversationColumns,
			c.AppID, c.UserID, c.ID, c.FirstTurnID, c.Events, at, reason)
		if err != nil || len(changed) == 0 {
			return err
		}
		return announce(ctx, tx, c.Owner, rowcodec.EndedConversation(changed[0]))
	})
	if err != nil {
		return ended, false, fault(err, "end the conversation")
	}
	if len(changed) == 1 {
		return changed[0], true, nil
	}
	if ended, err = s.Conversation(ctx, c.AppID, c.UserID, c.ID); err != nil {
		return ended, false, err
	}
	if ended.EndedAt.IsZero() || !ended.SameEvents(c) {
		return memory.Conversation{}, false, db.ErrConversationChanged
	}
	return ended, false, nil
}

// Summarise replaces the running summary, where it is still the one that was read.
func (s *Store) Summarise(ctx context.Context, c, next memory.Conversation) error {
	tag, err := s.pool.Exec(ctx, `UPDATE conversations SET summary = $6, summarised_through = $7, summarised_tokens = $8
		WHERE app_id = $1 AND user_id = $2 AND id = $3 AND began = $4 AND summarised_through = $5`,
		c.AppID, c.UserID, c.ID, c.FirstTurnID, c.SummarisedThrough, next.Summary, next.SummarisedThrough, next.SummarisedTokens)
	if err != nil || tag.RowsAffected() == 1 {
		return fault(err, "summarise the conversation")
	}
	if _, err := s.Conversation(ctx, c.AppID, c.UserID, c.ID); err != nil {
		return err
	}
	return db.ErrSummarised
}

// DeleteConversation deletes a conversation with its turns and their
// candidates. The conversation goes first: a turn that comes meanwhile waits
// for its row, and then begins anew.
func (s *Store) DeleteConversation(ctx context.Context, owner memory.Owner, id string) (gone db.DeletedConversation, err error) {
	err = again(ctx, func() error {
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			tag, err := tx.Exec(ctx, `DELETE FROM conversations WHERE app_id = $1 AND user_id = $2 AND id = $3`, owner.AppID, owner.UserID, id)
			if err != nil {
				return err
			}
			if tag.RowsAffected() == 0 {
				return notFound("conversation", id)
			}
			const ofIt = ` FROM turns WHERE app_id = $1 AND user_id = $2 AND conversation_id = $3 AND last_event > 0`
			candidates, err := tx.Exec(ctx, `DELETE FROM candidates WHERE turn_id IN (SELECT id`+ofIt+`)`, owner.AppID, owner.UserID, id)
			if err != nil {
				return err
			}
			turns, err := tx.Exec(ctx, `DELETE`+ofIt, owner.AppID, owner.UserID, id)
			gone = db.DeletedConversation{Turns: int(turns.RowsAffected()), Candidates: int(candidates.RowsAffected())}
			return err
		})
	})
	if err != nil {
		return db.DeletedConversation{}, fault(err, "delete the conversation")
	}
	return gone, nil
}

// orZero is the inverse of orNull.
func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}
