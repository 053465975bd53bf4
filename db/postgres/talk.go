package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// insertConversationTurn stores a turn and extends its conversation by it. The
// conversation's row is locked first, so that events are numbered in the order of
// their commits. If the turn exists already, both are undone.
const insertConversationTurn = `
	WITH grown AS (
		INSERT INTO conversations AS c (app_id, user_id, id, began, title, turns, events, tokens, started_at, last_at,
		heard_at)
		SELECT $2, $3, $6, $1, $19, 1, $20, $21, $9, $9, $14
		WHERE NOT (` + isErasing + `$18))
		ON CONFLICT (app_id, user_id, id) DO UPDATE SET
			title = CASE WHEN c.title = '' THEN excluded.title ELSE c.title END,
			turns = c.turns + 1, events = c.events + excluded.events, tokens = c.tokens + excluded.tokens,
			started_at = least(c.started_at, excluded.started_at), last_at = greatest(c.last_at, excluded.last_at),
			heard_at = excluded.heard_at, ended_at = NULL, end_reason = ''
		RETURNING events
	)
	INSERT INTO turns (id, app_id, user_id, client_id, agent_id, conversation_id, messages, metadata,
		said_at, hash, status, attempts, last_error, accepted_at, queued_at, processed_at, due_at, first_event, last_event)
	SELECT $1, $2, $3, nullif($4, ''), $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, events - $20 + 1, events
	FROM grown RETURNING first_event`

// acceptInConversation is AcceptTurn for a turn with a conversation. It also takes
// one round trip if the turn is new.
func (s *Store) acceptInConversation(
	ctx context.Context, t memory.Turn, due time.Time,
) (stored memory.Turn, fresh bool, err error) {
	messages, err := rowcodec.MessagesJSON(t.Messages)
	if err != nil {
		return stored, false, memory.Errorf(memory.KindInvalid, "write the messages as JSON: %w", err)
	}
	for {
		batch := &pgx.Batch{} // one implicit transaction; see AcceptTurn
		batch.Queue(lockShared, rowcodec.TurnsLock(t.Owner))
		batch.Queue(insertConversationTurn, t.ID, t.AppID, t.UserID, t.ClientID, t.AgentID, t.ConversationID, messages,
			t.Metadata,
			t.At, t.Hash, t.Status, t.Attempts, rowcodec.Storable(t.LastError), t.AcceptedAt, t.QueuedAt, orNull(t.ProcessedAt),
			due,
			rowcodec.OwnerHash(t.Owner), memory.TitleOf(t.Messages), len(t.Messages), t.Tokens()).
			QueryRow(func(row pgx.Row) error { return row.Scan(&t.FirstEvent) })
		err := s.pool.SendBatch(ctx, batch).Close()
		switch {
		case err == nil:
			t.At = memory.Instant(t.At)
			t.AcceptedAt, t.QueuedAt = memory.Instant(t.AcceptedAt), memory.Instant(t.QueuedAt)
			return t, true, nil
		case !errors.Is(err, pgx.ErrNoRows) && !isRepeated(err):
			return memory.Turn{}, false, fault(err, "store the turn")
		}
		stored, err = s.hindering(ctx, t)
		if !errors.Is(err, pgx.ErrNoRows) { // otherwise it has been erased or deleted since
			return stored, false, fault(err, "store the turn")
		}
	}
}

// isRepeated reports whether a turn was refused for its client id.
func isRepeated(err error) bool {
	var answered *pgconn.PgError
	return errors.As(err, &answered) && answered.Code == "23505" && answered.ConstraintName == "turns_app_id_client_id_key"
}
