package sqlstore

import (
	"context"
	"encoding/json"
	"time"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// The columns that TurnFields reads: all, or all but the messages and what is withheld
// or left out of them, which are the largest part of a row.
const (
	bareTurnColumns = `id, app_id, user_id, coalesce(client_id, ''), agent_id, conversation_id, metadata,
	said_at, hash, status, attempts, last_error, accepted_at, queued_at, processed_at, withdrawn_at, first_event,
	expires_at, coalesce(memory, ''), scored_by, scored_policy,
	coalesce(shared_turn, ''), shared_name, `
	TurnColumns     = bareTurnColumns + `messages, withheld, left_out`
	withoutMessages = bareTurnColumns + `NULL::json, NULL::json, NULL::json`
	selectTurns     = `SELECT ` + TurnColumns + ` FROM turns`
	turnOfClient    = selectTurns + ` WHERE app_id = $1 AND client_id = $2`
)

// TurnFields returns the destinations of TurnColumns.
func (s *Store) TurnFields(t *memory.Turn) []any { return s.dialect.dests(turnFields(t)) }

func turnFields(t *memory.Turn) []any {
	return []any{&t.ID, &t.AppID, &t.UserID, &t.ClientID, &t.AgentID, &t.ConversationID, &t.Metadata, &t.At, &t.Hash,
		&t.Status, &t.Attempts, &t.LastError, &t.AcceptedAt, &t.QueuedAt, &t.ProcessedAt, &t.WithdrawnAt, &t.FirstEvent,
		&t.ExpiresAt, &t.Memory, &t.Scored.By, &t.Scored.Policy,
		&t.Shared.Turn, &t.Shared.Name, &t.Messages, &t.Withheld, &t.LeftOut}
}

func (s *Store) Turn(ctx context.Context, appID, ref string) (memory.Turn, error) {
	if memory.IsID(ref) {
		t, ok, err := first(ctx, s.conn, turnFields, selectTurns+` WHERE id = $1 AND {|+}app_id = $2`, ref, appID)
		if err != nil || ok {
			return t, s.fault(err, "find the turn")
		}
	}
	t, ok, err := first(ctx, s.conn, turnFields, turnOfClient, appID, ref)
	return t, s.require(ok, err, "find the turn", NotFound("turn", ref))
}

// Accepted returns the turn of t's app that has t's client id; ok is false if there is no such
// turn. db.ErrErasing: see Admit. db.ErrMode: there is no such turn, and t may not be stored as one that is on.
func (s *Store) Accepted(ctx context.Context, tx Querier, t memory.Turn) (stored memory.Turn, ok bool, err error) {
	if err := s.Admit(ctx, tx, t.Owner); err != nil {
		return stored, false, err
	}
	c := conn{tx, s.dialect, s.fault}
	if t.ClientID != "" {
		if stored, ok, err = first(ctx, c, turnFields, turnOfClient, t.AppID, t.ClientID); err != nil || ok {
			return stored, ok, err
		}
	}
	if t.Memory == memory.ModeOn {
		var set memory.ModeSetting
		if set, err = modeOf(ctx, c, t.Owner, t.ConversationID); err == nil && set.Mode != memory.ModeOn {
			err = db.ErrMode
		}
	}
	return stored, false, err
}

func (s *Store) TurnStatus(ctx context.Context, appID, turnID string) (memory.TurnStatus, error) {
	return turnStatus(ctx, s.conn, appID, turnID)
}

func turnStatus(ctx context.Context, c conn, appID, turnID string) (memory.TurnStatus, error) {
	if !memory.IsID(turnID) {
		return "", NotFound("turn", turnID)
	}
	status, ok, err := first(ctx, c, only[memory.TurnStatus],
		`SELECT status FROM turns WHERE id = $1 AND {|+}app_id = $2`, turnID, appID)
	return status, c.require(ok, err, "read the status of the turn", NotFound("turn", turnID))
}

func (s *Store) ListTurns(ctx context.Context, f db.TurnFilter) ([]memory.Turn, error) {
	where := within(db.Extent{AppID: f.AppID, UserID: f.UserID})
	if f.Status != "" {
		where.Add(`status = ?`, f.Status)
	}
	if p := f.Before; p != nil {
		where.Add(`(accepted_at, id) < (?, ?)`, p.At, p.ID)
	}
	turns, err := page(ctx, s.conn, turnFields, `SELECT `+withoutMessages+` FROM turns WHERE `, where,
		`accepted_at DESC, id DESC`, f.Limit)
	return turns, s.fault(err, "list the turns")
}

const pastTurns = ` FROM turns{| INDEXED BY turns_without_messages} WHERE NOT messages_kept AND status = 'processed'`

func (s *Store) PastTurns(ctx context.Context, after string, limit int) ([]memory.Turn, error) {
	turns, err := collect(ctx, s.conn, turnFields,
		`SELECT `+TurnColumns+pastTurns+` AND id > $1 ORDER BY id LIMIT $2`, orLeast(after), limit)
	return turns, s.fault(err, "list the turns without messages")
}

func (s *Store) CountPastTurns(ctx context.Context) (int, error) {
	n, _, err := first(ctx, s.long(), only[int], `SELECT count(*)`+pastTurns)
	return n, s.fault(err, "count the turns without messages")
}

func (u *UserTx) TakeInTurn(ctx context.Context, turnID string) (ok bool, err error) {
	if !memory.IsID(turnID) {
		return false, nil
	}
	n, err := u.exec(ctx, `UPDATE turns SET messages_kept = true
		WHERE id = $1 AND {|+}app_id = $2 AND {|+}user_id = $3 AND NOT messages_kept AND status = 'processed'`,
		turnID, u.Owner.AppID, u.Owner.UserID)
	return n == 1, u.fault(err, "note that messages are kept")
}

func (s *Store) ConversationTurns(
	ctx context.Context, owner memory.Owner, id string, after int64, limit int,
) ([]memory.Turn, error) {
	turns, err := collect(ctx, s.conn, turnFields, selectTurns+`{| INDEXED BY turns_of_conversation}
		WHERE app_id = $1 AND user_id = $2 AND conversation_id = $3
			AND {last_event > greatest($4::bigint, 0)|last_event > 0 AND last_event > $4}
		ORDER BY last_event LIMIT $5`, owner.AppID, owner.UserID, id, after, limit)
	return turns, s.fault(err, "list the turns of the conversation")
}

func (u *UserTx) FinishTurn(
	ctx context.Context, turnID string, attempts int, at time.Time, scored memory.Scoring,
) error {
	if !memory.IsID(turnID) {
		return NotFound("turn", turnID)
	}
	n, err := u.exec(ctx, `UPDATE turns SET status = 'processed', attempts = $4, last_error = '', processed_at = $5,
			messages_kept = true, scored_by = $6, scored_policy = $7
		WHERE id = $1 AND {|+}app_id = $2 AND {|+}user_id = $3 AND {|+}status = 'accepted'`,
		turnID, u.Owner.AppID, u.Owner.UserID, attempts, at, scored.By, scored.Policy)
	if err != nil || n == 1 {
		return u.fault(err, "finish the turn")
	}
	status, ok, err := first(ctx, u.conn, only[memory.TurnStatus], `SELECT status FROM turns
		WHERE id = $1 AND {|+}app_id = $2 AND {|+}user_id = $3`, turnID, u.Owner.AppID, u.Owner.UserID)
	if err != nil || !ok {
		return u.require(ok, err, "read the turn", NotFound("turn", turnID))
	}
	return memory.Errorf(memory.KindConflict, "turn %s is %s: it has been finished by another worker", turnID, status)
}

func (u *UserTx) RecordedTurn(ctx context.Context, id string) (memory.Turn, bool, error) {
	t, ok, err := first(ctx, u.conn, turnFields, selectTurns+` WHERE id = $3 AND {|+}app_id = $1 AND {|+}user_id = $2`,
		u.Owner.AppID, u.Owner.UserID, id)
	return t, ok, u.fault(err, "read the turn")
}

func (u *UserTx) RestoreTurn(ctx context.Context, t memory.Turn) error {
	messages, err := rowcodec.MessagesJSON(t.Messages)
	if err != nil {
		return memory.Errorf(memory.KindInvalid, "write the messages as JSON: %w", err)
	}
	if err := u.RefuseTaken(ctx, "turns", []string{t.ID}); err != nil {
		return u.fault(err, "store the turn")
	}
	withheld, err := ListJSON(t.Withheld)
	if err != nil {
		return err
	}
	leftOut, err := ListJSON(t.LeftOut)
	if err != nil {
		return err
	}
	_, err = u.exec(ctx, `
		INSERT INTO turns (id, app_id, user_id, client_id, agent_id, conversation_id, messages, metadata,
			said_at, hash, status, attempts, last_error, accepted_at, queued_at, processed_at, due_at, first_event, last_event,
			withheld, withdrawn_at, left_out, expires_at, memory, scored_by, scored_policy, shared_turn, shared_name)
		VALUES ($1, $2, $3, nullif($4, ''), $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $15, $17, $18, $19, $20,
			$21, $22, nullif($23, ''), $24, $25, nullif($26, ''), $27)`,
		t.ID, u.Owner.AppID, u.Owner.UserID, t.ClientID, t.AgentID, t.ConversationID, json.RawMessage(messages), t.Metadata,
		t.At, t.Hash, t.Status, t.Attempts, rowcodec.Storable(t.LastError), t.AcceptedAt, t.QueuedAt, null(t.ProcessedAt),
		t.FirstEvent, t.LastEvent(), withheld, null(t.WithdrawnAt), leftOut, null(t.ExpiresAt),
		t.Memory, t.Scored.By, t.Scored.Policy, t.Shared.Turn, t.Shared.Name)
	if err == nil {
		t.Owner = u.Owner
		err = noteMessageIDs(ctx, u.conn, t)
	}
	if err == nil {
		err = noteParticipant(ctx, u.conn, t)
	}
	if err == nil {
		err = u.refuseOverlap(ctx, t)
	}
	return u.fault(err, "store the turn")
}

// refuseOverlap returns db.ErrEventsTaken if another turn of the conversation has an event of t.
func (u *UserTx) refuseOverlap(ctx context.Context, t memory.Turn) error {
	begins, found, err := first(ctx, u.conn, only[int64], `SELECT first_event
		FROM turns{| INDEXED BY turns_of_conversation}
		WHERE app_id = $1 AND user_id = $2 AND conversation_id = $3 AND last_event > 0 AND last_event >= $4
			AND id <> $5
		ORDER BY last_event LIMIT 1`, u.Owner.AppID, u.Owner.UserID, t.ConversationID, t.FirstEvent, t.ID)
	if err == nil && found && begins <= t.LastEvent() {
		err = db.ErrEventsTaken
	}
	return err
}

func (u *UserTx) Withhold(ctx context.Context, turnID string, withheld []memory.Withheld) error {
	column, err := ListJSON(withheld)
	if err != nil || !memory.IsID(turnID) {
		return err
	}
	_, err = u.exec(ctx, `UPDATE turns SET withheld = $4 WHERE id = $1 AND {|+}app_id = $2 AND {|+}user_id = $3`,
		turnID, u.Owner.AppID, u.Owner.UserID, column)
	return u.fault(err, "withhold a part of the turn")
}

func (u *UserTx) CutTurn(ctx context.Context, turnID string, messages []memory.Message) error {
	column, err := rowcodec.MessagesJSON(messages)
	if err != nil {
		return memory.Errorf(memory.KindInvalid, "write the messages as JSON: %w", err)
	}
	if !memory.IsID(turnID) {
		return nil
	}
	_, err = u.exec(ctx, `UPDATE turns SET messages = $4
		WHERE id = $1 AND {|+}app_id = $2 AND {|+}user_id = $3 AND {|+}conversation_id = ''`,
		turnID, u.Owner.AppID, u.Owner.UserID, json.RawMessage(column))
	return u.fault(err, "cut the messages of the turn")
}

func (u *UserTx) WithdrawTurn(ctx context.Context, turnID string, at time.Time) error {
	if !memory.IsID(turnID) {
		return NotFound("turn", turnID)
	}
	n, err := u.exec(ctx, `UPDATE turns SET status = 'withdrawn', withdrawn_at = $4, messages_kept = true
		WHERE id = $1 AND {|+}app_id = $2 AND {|+}user_id = $3`, turnID, u.Owner.AppID, u.Owner.UserID, at)
	return u.require(n == 1, err, "withdraw the turn", NotFound("turn", turnID))
}

func (u *UserTx) LeaveOut(ctx context.Context, turnID string, leftOut []memory.Omission) error {
	column, err := ListJSON(leftOut)
	if err != nil || !memory.IsID(turnID) {
		return err
	}
	_, err = u.exec(ctx, `UPDATE turns SET left_out = $4 WHERE id = $1 AND {|+}app_id = $2 AND {|+}user_id = $3`,
		turnID, u.Owner.AppID, u.Owner.UserID, column)
	return u.fault(err, "note what is left out of the turn")
}

// ListJSON is a list as the value of a column, null if it is empty.
func ListJSON[T any](list []T) (json.RawMessage, error) {
	if len(list) == 0 {
		return nil, nil
	}
	column, err := json.Marshal(list)
	if err != nil {
		return nil, memory.Errorf(memory.KindInvalid, "write a part of the turn as JSON: %w", err)
	}
	return column, nil
}

// Ended returns the ids of ended turns, and by id, as JSON, what is left out of them and what has scored them.
func Ended(turns []db.EndedTurn) (ids []string, leftOut, scored []byte, err error) {
	omissions, scorings := map[string][]memory.Omission{}, map[string]memory.Scoring{}
	for _, t := range turns {
		ids, scorings[t.ID] = append(ids, t.ID), t.Scored
		if len(t.LeftOut) > 0 {
			omissions[t.ID] = t.LeftOut
		}
	}
	if leftOut, err = json.Marshal(omissions); err == nil {
		scored, err = json.Marshal(scorings)
	}
	if err != nil {
		err = memory.Errorf(memory.KindInvalid, "write what is left out of turns as JSON: %w", err)
	}
	return ids, leftOut, scored, err
}
