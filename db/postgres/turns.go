package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/db/sqlstore"
	"hippocampus/internal/memory"
)

// The columns that scanTurn reads: all, or all but the messages, which are the
// larger part of a row.
const (
	bareTurnColumns = `id, app_id, user_id, coalesce(client_id, ''), agent_id, conversation_id, metadata,
		said_at, hash, status, attempts, last_error, accepted_at, queued_at, processed_at,
		first_event, `
	turnColumns     = bareTurnColumns + `messages`
	withoutMessages = bareTurnColumns + `NULL::json`
)

func scanTurn(row pgx.CollectableRow) (t memory.Turn, err error) {
	var messages []byte
	var processed *time.Time
	err = row.Scan(&t.ID, &t.AppID, &t.UserID, &t.ClientID, &t.AgentID, &t.ConversationID, &t.Metadata,
		&t.At, &t.Hash, &t.Status, &t.Attempts, &t.LastError, &t.AcceptedAt, &t.QueuedAt, &processed,
		&t.FirstEvent, &messages)
	if err != nil {
		return t, err
	}
	t.ProcessedAt = orZero(processed)
	if t.Messages, err = rowcodec.Messages(messages); err != nil {
		return t, fmt.Errorf("read the messages of turn %s: %w", t.ID, err)
	}
	return t, nil
}

// turn runs a query for one turn on the pool or within a transaction.
func turn(ctx context.Context, q querier, sql string, args ...any) (memory.Turn, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return memory.Turn{}, err
	}
	return pgx.CollectExactlyOneRow(rows, scanTurn)
}

// querier is what the pool and a transaction have in common.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

const insertTurn = `
	INSERT INTO turns (id, app_id, user_id, client_id, agent_id, conversation_id, messages, metadata,
		said_at, hash, status, attempts, last_error, accepted_at, queued_at, processed_at, due_at)
	SELECT $1, $2, $3, nullif($4, ''), $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17
	WHERE NOT (` + isErasing + `$18))
	ON CONFLICT (app_id, client_id) DO NOTHING`

const turnByClientID = `SELECT ` + turnColumns + ` FROM turns WHERE app_id = $1 AND client_id = $2`

// AcceptTurn stores t, or finds the turn that has its client id: in one round
// trip where t is new.
func (s *Store) AcceptTurn(ctx context.Context, t memory.Turn,
	due time.Time) (stored memory.Turn, fresh bool, err error) {
	if t.ConversationID != "" {
		return s.acceptInConversation(ctx, t, due)
	}
	messages, err := rowcodec.MessagesJSON(t.Messages)
	if err != nil {
		return stored, false, memory.Errorf(memory.KindInvalid, "write the messages as JSON: %w", err)
	}
	hash := rowcodec.OwnerHash(t.Owner)
	for {
		// One implicit transaction, in which the second statement sees what the
		// lock has waited for. Where another process is storing the same client
		// id, it waits for its commit.
		batch := &pgx.Batch{}
		batch.Queue(lockShared, rowcodec.TurnsLock(t.Owner))
		batch.Queue(insertTurn, t.ID, t.AppID, t.UserID, t.ClientID, t.AgentID, t.ConversationID, messages, t.Metadata,
			t.At, t.Hash, t.Status, t.Attempts, rowcodec.Storable(t.LastError), t.AcceptedAt, t.QueuedAt,
			orNull(t.ProcessedAt), due, hash).
			Exec(func(tag pgconn.CommandTag) error {
				fresh = tag.RowsAffected() == 1
				return nil
			})
		if err := s.pool.SendBatch(ctx, batch).Close(); err != nil {
			return memory.Turn{}, false, fault(err, "store the turn")
		}
		if fresh {
			t.At, t.AcceptedAt, t.QueuedAt = memory.Instant(t.At), memory.Instant(t.AcceptedAt), memory.Instant(t.QueuedAt)
			return t, true, nil
		}
		stored, err = s.hindering(ctx, t)
		if !errors.Is(err, pgx.ErrNoRows) { // else it was erased in the meantime
			return stored, false, fault(err, "store the turn")
		}
	}
}

// hindering is the turn with the client id of one that was not stored.
func (s *Store) hindering(ctx context.Context, t memory.Turn) (stored memory.Turn, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := admit(ctx, tx, lockShared, rowcodec.TurnsLock(t.Owner), t.Owner); err != nil {
			return err
		}
		stored, err = turn(ctx, tx, turnByClientID, t.AppID, t.ClientID)
		return err
	})
	return stored, err
}

// Turn finds a turn of the app by its id, else by its client id.
func (s *Store) Turn(ctx context.Context, appID, ref string) (memory.Turn, error) {
	if memory.IsID(ref) {
		t, err := turn(ctx, s.pool, `SELECT `+turnColumns+` FROM turns WHERE id = $1 AND app_id = $2`, ref, appID)
		if err = fault(err, "find the turn"); !memory.IsKind(err, memory.KindNotFound) {
			return t, err
		}
	}
	t, err := turn(ctx, s.pool, turnByClientID, appID, ref)
	if err = fault(err, "find the turn"); memory.IsKind(err, memory.KindNotFound) {
		return t, notFound("turn", ref)
	}
	return t, err
}

// TurnStatus is the status of a turn of the app by its id.
func (s *Store) TurnStatus(ctx context.Context, appID, turnID string) (status memory.TurnStatus, err error) {
	if !memory.IsID(turnID) {
		return "", notFound("turn", turnID)
	}
	err = s.pool.QueryRow(ctx, `SELECT status FROM turns WHERE id = $1 AND app_id = $2`, turnID, appID).Scan(&status)
	if err = fault(err, "read the status of the turn"); memory.IsKind(err, memory.KindNotFound) {
		return "", notFound("turn", turnID)
	}
	return status, err
}

// ListTurns pages through turns, newest first, without their messages.
func (s *Store) ListTurns(ctx context.Context, f db.TurnFilter) ([]memory.Turn, error) {
	var where sqlstore.Conditions
	where.Add(`app_id = ?`, f.AppID)
	if f.UserID != "" {
		where.Add(`user_id = ?`, f.UserID)
	}
	if f.Status != "" {
		where.Add(`status = ?`, f.Status)
	}
	if p := f.Before; p != nil {
		where.Add(`(accepted_at, id) < (?, ?)`, p.At, p.ID)
	}
	rows, _ := s.pool.Query(ctx, `SELECT `+withoutMessages+` FROM turns WHERE `+where.SQL()+
		` ORDER BY accepted_at DESC, id DESC LIMIT `+where.Arg(f.Limit), where.Args...)
	turns, err := pgx.CollectRows(rows, scanTurn)
	return turns, fault(err, "list the turns")
}

// orNull is t as a column that is null where there is no time.
func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
