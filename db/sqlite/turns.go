package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/db/sqlstore"
	"hippocampus/internal/memory"
)

// growConversation creates a conversation, or extends it by one turn.
const growConversation = `
	INSERT INTO conversations AS c (app_id, user_id, id, began, title, turns, events, tokens, started_at, last_at,
	heard_at)
	VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, ?7, ?8, ?8, ?9)
	ON CONFLICT (app_id, user_id, id) DO UPDATE SET
		title = CASE WHEN c.title = '' THEN excluded.title ELSE c.title END,
		turns = c.turns + 1, events = c.events + excluded.events, tokens = c.tokens + excluded.tokens,
		started_at = min(c.started_at, excluded.started_at), last_at = max(c.last_at, excluded.last_at),
		heard_at = excluded.heard_at, ended_at = NULL, end_reason = ''
	RETURNING events`

const insertTurn = `
	INSERT INTO turns (id, app_id, user_id, client_id, agent_id, conversation_id, messages, metadata,
		said_at, hash, status, attempts, last_error, accepted_at, queued_at, processed_at, due_at, first_event, last_event,
		expires_at, memory, left_out, withheld, shared_turn, shared_name)
	VALUES (?, ?, ?, nullif(?, ''), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, ''), ?, ?,
		nullif(?, ''), ?)`

// noteOffset notes the offset of a turn's time.
const noteOffset = `INSERT INTO user_zones (app_id, user_id, chosen, last_offset) VALUES (?1, ?2, '', ?3)
	ON CONFLICT (app_id, user_id) DO UPDATE SET last_offset = excluded.last_offset
	WHERE last_offset <> excluded.last_offset`

func (s *Store) AcceptTurn(
	ctx context.Context, t memory.Turn, due time.Time, log *db.LogState,
) (stored memory.Turn, fresh bool, err error) {
	messages, err := rowcodec.MessagesJSON(t.Messages)
	if err != nil {
		return stored, false, memory.Errorf(memory.KindInvalid, "write the messages as JSON: %w", err)
	}
	err = s.write(ctx, func(tx *sql.Tx) error {
		stored, fresh, err = s.acceptTurn(ctx, tx, t, messages, due, log)
		if err == nil && fresh && t.Offset != "" {
			_, err = tx.ExecContext(ctx, noteOffset, t.AppID, t.UserID, t.Offset)
		}
		return err
	})
	if err != nil {
		return memory.Turn{}, false, fault(err, "store the turn")
	}
	return stored, fresh, nil
}

func (u *userTx) AcceptTurn(
	ctx context.Context, t memory.Turn, due time.Time, log *db.LogState,
) (stored memory.Turn, fresh bool, err error) {
	messages, err := rowcodec.MessagesJSON(t.Messages)
	if err != nil {
		return stored, false, memory.Errorf(memory.KindInvalid, "write the messages as JSON: %w", err)
	}
	stored, fresh, err = u.store.acceptTurn(ctx, u.tx, t, messages, due, log)
	return stored, fresh, fault(err, "store the turn")
}

// acceptTurn stores a turn with its messages as JSON.
func (s *Store) acceptTurn(
	ctx context.Context, tx *sql.Tx, t memory.Turn, messages []byte, due time.Time, log *db.LogState,
) (stored memory.Turn, fresh bool, err error) {
	stored, known, err := s.Accepted(ctx, transaction{tx: tx}, t)
	if err != nil || known {
		return stored, false, err
	}
	var last int64
	if t.ConversationID != "" {
		if err := checkLog(ctx, tx, t, log); err != nil {
			return stored, false, err
		}
		if err := tx.QueryRowContext(ctx, growConversation, t.AppID, t.UserID, t.ConversationID, t.ID,
			t.Title(), len(t.Messages), t.Tokens(), moment(t.At), moment(t.AcceptedAt)).
			Scan(&last); err != nil {
			return stored, false, err
		}
		t.FirstEvent = last - int64(len(t.Messages)) + 1
	}
	leftOut, err := sqlstore.ListJSON(t.LeftOut)
	if err != nil {
		return stored, false, err
	}
	withheld, err := sqlstore.ListJSON(t.Withheld)
	if err != nil {
		return stored, false, err
	}
	_, err = tx.ExecContext(ctx, insertTurn, t.ID, t.AppID, t.UserID, t.ClientID, t.AgentID, t.ConversationID,
		string(messages), jsonText(t.Metadata), moment(t.At), t.Hash, t.Status, t.Attempts, rowcodec.Storable(t.LastError),
		moment(t.AcceptedAt), moment(t.QueuedAt), instant(t.ProcessedAt), moment(due), t.FirstEvent, last,
		instant(t.ExpiresAt), t.Memory, jsonText(leftOut), jsonText(withheld), t.Shared.Turn, t.Shared.Name)
	if err != nil {
		return stored, false, err
	}
	if err := s.NoteTurn(ctx, transaction{tx: tx}, t); err != nil {
		return stored, false, err
	}
	if err := s.NoteMessageIDs(ctx, transaction{tx: tx}, t); err != nil {
		return stored, false, err
	}
	if err := s.NoteParticipant(ctx, transaction{tx: tx}, t); err != nil {
		return stored, false, err
	}
	t.At, t.Offset = memory.Instant(t.At), ""
	t.AcceptedAt, t.QueuedAt = memory.Instant(t.AcceptedAt), memory.Instant(t.QueuedAt)
	return t, true, nil
}

// checkLog returns db.ErrConversationChanged unless the conversation of a turn has this log.
func checkLog(ctx context.Context, tx *sql.Tx, t memory.Turn, log *db.LogState) error {
	if log == nil {
		return nil
	}
	var found db.LogState
	err := tx.QueryRowContext(ctx, `SELECT began, events, edition FROM conversations
		WHERE app_id = ? AND user_id = ? AND id = ?`, t.AppID, t.UserID, t.ConversationID).
		Scan(&found.FirstTurnID, &found.Events, &found.Edition)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if found != *log {
		return db.ErrConversationChanged
	}
	return nil
}

func (s *Store) ClaimTurns(ctx context.Context, now, due time.Time, limit int) (turns []memory.Turn, err error) {
	err = s.writeAsync(ctx, func(tx *sql.Tx) error {
		turns, err = collect(ctx, tx, s.TurnFields, `
			UPDATE turns SET due_at = ? WHERE id IN (
				SELECT id FROM turns WHERE status = 'accepted' AND due_at <= ? ORDER BY due_at LIMIT ?)
			RETURNING `+sqlstore.TurnColumns, moment(due), moment(now), limit)
		return err
	})
	return turns, fault(err, "claim due turns")
}

func (s *Store) RenewTurns(ctx context.Context, turnIDs []string, due time.Time) error {
	_, err := s.exec(ctx, `UPDATE turns SET due_at = ?
		WHERE id IN (SELECT value FROM json_each(?)) AND status = 'accepted'`, moment(due), list(turnIDs))
	return fault(err, "renew the turns")
}

func (s *Store) EndTurns(ctx context.Context, turns []db.EndedTurn, at time.Time) error {
	ids, leftOut, scored, err := sqlstore.Ended(turns)
	if err != nil {
		return err
	}
	_, err = s.exec(ctx, `
		UPDATE turns SET status = 'processed', attempts = attempts + 1, last_error = '', processed_at = ?1,
			messages_kept = true, left_out = coalesce(json_extract(?2, '$."' || id || '"'), left_out),
			scored_by = json_extract(?3, '$."' || id || '".by'),
			scored_policy = json_extract(?3, '$."' || id || '".policy')
		WHERE id IN (SELECT value FROM json_each(?4)) AND status = 'accepted'`,
		moment(at), string(leftOut), string(scored), list(ids))
	return fault(err, "end the turns")
}
