package sqlite

import (
	"context"
	"database/sql"
	"time"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const insertTurn = `
	INSERT INTO turns (id, app_id, user_id, client_id, agent_id, conversation_id, messages, metadata,
		said_at, hash, status, attempts, last_error, accepted_at, queued_at, processed_at, due_at)
	VALUES (?, ?, ?, nullif(?, ''), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT (app_id, client_id) DO NOTHING`

const turnByClientID = `SELECT ` + turnColumns + ` FROM turns WHERE app_id = ? AND client_id = ?`

// AcceptTurn stores t, or finds the turn that has its client id.
func (s *Store) AcceptTurn(ctx context.Context, t memory.Turn,
	due time.Time) (stored memory.Turn, fresh bool, err error) {
	if t.ConversationID != "" {
		return s.acceptInConversation(ctx, t, due)
	}
	messages, err := rowcodec.MessagesJSON(t.Messages)
	if err != nil {
		return stored, false, memory.Errorf(memory.KindInvalid, "write the messages as JSON: %w", err)
	}
	err = s.write(ctx, func(tx *sql.Tx) error {
		if err := refuseErasing(ctx, tx, t.Owner); err != nil {
			return err
		}
		result, err := tx.ExecContext(ctx, insertTurn, t.ID, t.AppID, t.UserID, t.ClientID, t.AgentID, t.ConversationID,
			string(messages), jsonText(t.Metadata), moment(t.At), t.Hash, t.Status, t.Attempts, rowcodec.Storable(t.LastError),
			moment(t.AcceptedAt), moment(t.QueuedAt), instant(t.ProcessedAt), moment(due))
		if err != nil {
			return err
		}
		if fresh = affected(result) == 1; !fresh {
			stored, err = one(ctx, tx, turnFields, turnByClientID, t.AppID, t.ClientID)
		}
		return err
	})
	if err != nil {
		return memory.Turn{}, false, fault(err, "store the turn")
	}
	if fresh {
		stored = t
		stored.At, stored.AcceptedAt, stored.QueuedAt = memory.Instant(
			t.At), memory.Instant(t.AcceptedAt), memory.Instant(t.QueuedAt)
	}
	return stored, fresh, nil
}

// Turn finds a turn of the app by its id, else by its client id.
func (s *Store) Turn(ctx context.Context, appID, ref string) (memory.Turn, error) {
	if memory.IsID(ref) {
		t, err := one(ctx, s.reader, turnFields, `SELECT `+turnColumns+` FROM turns WHERE id = ? AND app_id = ?`, ref, appID)
		if err = fault(err, "find the turn"); !memory.IsKind(err, memory.KindNotFound) {
			return t, err
		}
	}
	t, err := one(ctx, s.reader, turnFields, turnByClientID, appID, ref)
	if err = fault(err, "find the turn"); memory.IsKind(err, memory.KindNotFound) {
		return t, notFound("turn", ref)
	}
	return t, err
}

// TurnStatus is the status of a turn of the app by its id.
func (s *Store) TurnStatus(ctx context.Context, appID, turnID string) (status memory.TurnStatus, err error) {
	err = s.reader.QueryRowContext(ctx, `SELECT status FROM turns WHERE id = ? AND app_id = ?`, turnID,
		appID).Scan(&status)
	if err = fault(err, "read the status of the turn"); memory.IsKind(err, memory.KindNotFound) {
		return "", notFound("turn", turnID)
	}
	return status, err
}

// ListTurns pages through turns, newest first, without their messages.
func (s *Store) ListTurns(ctx context.Context, f db.TurnFilter) ([]memory.Turn, error) {
	var where conditions
	where.add(`app_id = ?`, f.AppID)
	if f.UserID != "" {
		where.add(`user_id = ?`, f.UserID)
	}
	if f.Status != "" {
		where.add(`status = ?`, f.Status)
	}
	if p := f.Before; p != nil {
		where.add(`(accepted_at, id) < (?, ?)`, moment(p.At), p.ID)
	}
	turns, err := collect(ctx, s.reader, turnFields, `SELECT `+withoutMessages+` FROM turns WHERE `+where.sql()+
		` ORDER BY accepted_at DESC, id DESC LIMIT ?`, append(where.args, f.Limit)...)
	return turns, fault(err, "list the turns")
}

// affected is how many rows a statement changed; this driver always knows.
func affected(result sql.Result) int64 {
	n, _ := result.RowsAffected()
	return n
}
