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

// Statements that store a turn. A turn with a conversation extends the conversation, whose row is locked first, so that
// events are numbered in the order of their commits. If the turn exists already, both are undone.
const (
	insertIntoTurns = `stored AS (
	INSERT INTO turns (id, app_id, user_id, client_id, agent_id, conversation_id, messages, metadata,
		said_at, hash, status, attempts, last_error, accepted_at, queued_at, processed_at, due_at, expires_at,
		memory, left_out, withheld, shared_turn, shared_name, first_event, last_event)
	SELECT $1, $2, $3, nullif($4, ''), $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
		nullif($19, ''), $20::json, $21::json, nullif($23::text, ''), $24::text, `

	// admitted is false for a user who is being erased, and for a turn that is on if the mode of the user or of
	// the conversation is another one.
	admitted = `NOT (` + isErasing + `$22)) AND ($19::text <> '' OR
		NOT EXISTS (SELECT FROM user_modes WHERE app_id = $2 AND user_id = $3 AND conversation_id IN ('', $6)))`

	insertTurn = `
	WITH ` + insertIntoTurns + `0, 0 WHERE ` + admitted + insertedTurn

	insertConversation = `
	WITH grown AS (
		INSERT INTO conversations AS c (app_id, user_id, id, began, title, turns, events, tokens, started_at, last_at,
		heard_at)
		SELECT $2, $3, $6, $1, $25, 1, $26, $27, $9, $9, $14
		WHERE ` + admitted + `
		ON CONFLICT (app_id, user_id, id) `
	growth = `
			title = CASE WHEN c.title = '' THEN $25 ELSE c.title END,
			turns = c.turns + 1, events = c.events + $26, tokens = c.tokens + $27,
			started_at = least(c.started_at, $9), last_at = greatest(c.last_at, $9),
			heard_at = $14, ended_at = NULL, end_reason = ''`
	insertGrown = `
		RETURNING events
	), ` + insertIntoTurns + `events - $26 + 1, events FROM grown` + insertedTurn

	insertedTurn = `
		RETURNING id, app_id, user_id, agent_id, conversation_id, accepted_at, first_event
	)`
	// The end of each of these statements: in a user's transaction, which notes the active day at its commit, and
	// elsewhere.
	selectStored  = ` SELECT first_event FROM stored`
	selectAndNote = `, noted AS (
		INSERT INTO active_days (app_id, user_id, agent_id, day)
		SELECT app_id, user_id, unnest(ARRAY['', agent_id]), floor(extract(epoch FROM accepted_at) / 86400)::integer
		FROM stored ON CONFLICT DO NOTHING
	)` + selectStored

	// noteOffset notes the offset of a turn's time, whose parameter follows. It locks no row whose offset is the same, so
	// that turns of a user do not wait for each other.
	noteOffset = `, zoned AS (
		INSERT INTO user_zones (app_id, user_id, chosen, last_offset)
		SELECT app_id, user_id, '', n.last_offset FROM stored, (SELECT $%d::text AS last_offset) AS n
		WHERE NOT EXISTS (SELECT FROM user_zones AS z
			WHERE z.app_id = stored.app_id AND z.user_id = stored.user_id AND z.last_offset = n.last_offset)
		ON CONFLICT (app_id, user_id) DO UPDATE SET last_offset = excluded.last_offset
	)`

	// noteMessageIDs notes the ids that the client gave to messages, whose parameter follows.
	noteMessageIDs = `, identified AS (
		INSERT INTO message_ids (app_id, user_id, conversation_id, id, turn_id)
		SELECT app_id, user_id, conversation_id, unnest($%d::text[]), id FROM stored ON CONFLICT DO NOTHING
	)`

	// noteParticipant notes that the user of a turn takes part in its conversation.
	noteParticipant = `, took AS (
		INSERT INTO participants (app_id, user_id, conversation_id, name)
		SELECT app_id, user_id, conversation_id, $24::text FROM stored ON CONFLICT DO NOTHING
	)`

	// For any state of the conversation's log; if there is no conversation; and if its log is in a given state.
	insertTurnAnyhow  = insertConversation + `DO UPDATE SET` + growth + insertGrown
	insertFirstTurn   = insertConversation + `DO NOTHING` + insertGrown
	insertFurtherTurn = `
	WITH grown AS (
		UPDATE conversations AS c SET` + growth + `
		WHERE app_id = $2 AND user_id = $3 AND id = $6 AND began = $28 AND events = $29 AND edition = $30
			AND ` + admitted + insertGrown
)

// AcceptTurn stores t, or finds the turn that has its client id: in one round
// trip if t is new.
func (s *Store) AcceptTurn(
	ctx context.Context, t memory.Turn, due time.Time, log *db.LogState,
) (stored memory.Turn, fresh bool, err error) {
	insert, args, err := insertionOf(t, due, log)
	if err != nil {
		return stored, false, err
	}
	if t.Offset != "" {
		args = append(args, t.Offset)
		insert += fmt.Sprintf(noteOffset, len(args))
	}
	for {
		// One implicit transaction, in which the second statement sees the changes that the lock has waited for. If another
		// process is storing the same client id, it waits for its commit.
		batch := &pgx.Batch{}
		batch.Queue(lockShared, rowcodec.TurnsLock(t.Owner))
		batch.Queue(insert+selectAndNote, args...).QueryRow(func(row pgx.Row) error { return row.Scan(&t.FirstEvent) })
		refused := s.pool.SendBatch(ctx, batch).Close()
		if refused == nil {
			return accepted(t), true, nil
		}
		if !errors.Is(refused, pgx.ErrNoRows) && sqlState(refused) != uniqueViolation {
			return memory.Turn{}, false, fault(refused, "store the turn")
		}
		known := false
		err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
			stored, known, err = s.Accepted(ctx, statements{tx}, t)
			return err
		})
		if err != nil || known {
			return stored, false, fault(err, "store the turn")
		}
		if sqlState(refused) == uniqueViolation && !repeatsClientID(refused) {
			return memory.Turn{}, false, fault(refused, "store the turn")
		}
		if log != nil && errors.Is(refused, pgx.ErrNoRows) {
			return memory.Turn{}, false, db.ErrConversationChanged
		}
		// The turn with its client id has been erased or deleted since.
	}
}

// AcceptTurn stores t as Store.AcceptTurn does.
func (u *userTx) AcceptTurn(
	ctx context.Context, t memory.Turn, due time.Time, log *db.LogState,
) (stored memory.Turn, fresh bool, err error) {
	insert, args, err := insertionOf(t, due, log)
	if err != nil {
		return stored, false, err
	}
	stored, known, err := u.store.Accepted(ctx, statements{u.tx}, t)
	if err != nil || known {
		return stored, false, fault(err, "store the turn")
	}
	err = u.tx.QueryRow(ctx, insert+selectStored, args...).Scan(&t.FirstEvent)
	if repeatsClientID(err) || log != nil && errors.Is(err, pgx.ErrNoRows) {
		return memory.Turn{}, false, db.ErrConversationChanged
	}
	if err != nil {
		return memory.Turn{}, false, fault(err, "store the turn")
	}
	return accepted(t), true, u.NoteActivity(ctx, t.AgentID, t.AcceptedAt)
}

// accepted returns a turn as it was stored.
func accepted(t memory.Turn) memory.Turn {
	t.At, t.Offset = memory.Instant(t.At), ""
	t.AcceptedAt, t.QueuedAt = memory.Instant(t.AcceptedAt), memory.Instant(t.QueuedAt)
	return t
}

// insertionOf returns the statement that stores a turn, without its end, and its arguments.
func insertionOf(t memory.Turn, due time.Time, log *db.LogState) (insert string, args []any, err error) {
	messages, err := rowcodec.MessagesJSON(t.Messages)
	if err != nil {
		return "", nil, memory.Errorf(memory.KindInvalid, "write the messages as JSON: %w", err)
	}
	leftOut, err := sqlstore.ListJSON(t.LeftOut)
	if err != nil {
		return "", nil, err
	}
	withheld, err := sqlstore.ListJSON(t.Withheld)
	if err != nil {
		return "", nil, err
	}
	insert, args = insertTurn, []any{
		t.ID, t.AppID, t.UserID, t.ClientID, t.AgentID, t.ConversationID, messages, t.Metadata,
		t.At, t.Hash, t.Status, t.Attempts, rowcodec.Storable(t.LastError), t.AcceptedAt, t.QueuedAt,
		orNull(t.ProcessedAt), due, orNull(t.ExpiresAt), t.Memory, leftOut, withheld,
		rowcodec.OwnerHash(t.Owner), t.Shared.Turn, t.Shared.Name,
	}
	if t.ConversationID != "" {
		args = append(args, t.Title(), len(t.Messages), t.Tokens())
		switch {
		case log == nil:
			insert = insertTurnAnyhow
		case *log == db.LogState{}:
			insert = insertFirstTurn
		default:
			insert, args = insertFurtherTurn, append(args, log.FirstTurnID, log.Events, log.Edition)
		}
		if ids := t.MessageIDs(); ids != nil {
			args = append(args, ids)
			insert += fmt.Sprintf(noteMessageIDs, len(args))
		}
		if t.Shared.Is() {
			insert += noteParticipant
		}
	}
	return insert, args, nil
}

// repeatsClientID reports whether a turn was refused because another has its client id.
func repeatsClientID(err error) bool {
	var answered *pgconn.PgError
	return errors.As(err, &answered) && answered.Code == uniqueViolation &&
		answered.ConstraintName == "turns_app_id_client_id_key"
}

func (s *Store) ClaimTurns(ctx context.Context, now, due time.Time, limit int) (turns []memory.Turn, err error) {
	batch := &pgx.Batch{} // one implicit transaction
	batch.Queue(asyncCommit)
	batch.Queue(`
		UPDATE turns SET due_at = $2 WHERE id = ANY(ARRAY(
			SELECT id FROM turns WHERE status = 'accepted' AND due_at <= $1
			ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED))
		RETURNING `+sqlstore.TurnColumns, now, due, limit).Query(func(rows pgx.Rows) (err error) {
		turns, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (t memory.Turn, err error) {
			err = row.Scan(s.TurnFields(&t)...)
			return t, err
		})
		return err
	})
	err = s.pool.SendBatch(ctx, batch).Close()
	return turns, fault(err, "claim due turns")
}

// lockAccepted locks those of the turns $1 that are still accepted, in the order of their ids.
const lockAccepted = `
	WITH mine AS (SELECT id, app_id, user_id FROM turns
		WHERE id = ` + amongFirst + ` AND status = 'accepted' ORDER BY id FOR UPDATE)`

// isMine joins the turns with those that lockAccepted has locked.
const isMine = `turns.id = mine.id AND turns.app_id = mine.app_id AND turns.user_id = mine.user_id`

func (s *Store) RenewTurns(ctx context.Context, turnIDs []string, due time.Time) error {
	err := s.execAsync(ctx, lockAccepted+`
		UPDATE turns SET due_at = $2 FROM mine WHERE `+isMine, onlyIDs(turnIDs), due)
	return fault(err, "renew the turns")
}

func (s *Store) EndTurns(ctx context.Context, turns []db.EndedTurn, at time.Time) error {
	ids, leftOut, scored, err := sqlstore.Ended(turns)
	if err != nil {
		return err
	}
	err = s.execAsync(ctx, lockAccepted+`
		UPDATE turns SET status = 'processed', attempts = attempts + 1, last_error = '', processed_at = $2,
			messages_kept = true, left_out = coalesce($3::json -> turns.id::text, left_out),
			scored_by = $4::json -> turns.id::text ->> 'by',
			scored_policy = ($4::json -> turns.id::text ->> 'policy')::integer
		FROM mine WHERE `+isMine, onlyIDs(ids), at, leftOut, scored)
	return fault(err, "end the turns")
}
