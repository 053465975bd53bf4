package sqlstore

import (
	"context"
	"encoding/json"
	"time"

	"github.com/riverqueue/river"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const (
	selectReprocessings = `SELECT id, app_id, user_id, selection, state, counts, place, note, created_at, ended_at
		FROM reprocessings`
	reprocessingByID = selectReprocessings + ` WHERE id = $1 AND {|+}app_id = $2`
)

// reprocessingRow is a row of reprocessings.
type reprocessingRow struct {
	memory.Reprocessing
	selection, counts json.RawMessage
	place             string
}

func reprocessingFields(r *reprocessingRow) []any {
	return []any{&r.ID, &r.AppID, &r.UserID, &r.selection, &r.State, &r.counts, &r.place, &r.Note, &r.CreatedAt,
		&r.EndedAt}
}

func (r *reprocessingRow) run() (memory.Reprocessing, error) {
	for _, column := range []struct {
		text []byte
		into any
	}{{r.selection, &r.Selection}, {r.counts, &r.Counts}, {[]byte(r.place), &r.Place}} {
		if err := json.Unmarshal(column.text, column.into); err != nil {
			return r.Reprocessing, memory.Errorf(memory.KindInternal, "read reprocessing %s: %w", r.ID, err)
		}
	}
	return r.Reprocessing, nil
}

func asJSON(value any) (json.RawMessage, error) {
	column, err := json.Marshal(value)
	if err != nil {
		return nil, memory.Errorf(memory.KindInternal, "write a reprocessing as JSON: %w", err)
	}
	return column, nil
}

// lockReprocessings lets one transaction at a time begin or undo runs of an app.
func (t tx) lockReprocessings(ctx context.Context, appID string) error {
	return t.lock(ctx, rowcodec.OwnerLock(memory.Owner{AppID: appID}))
}

func (s *Store) BeginReprocessing(ctx context.Context, r memory.Reprocessing, job db.Job) error {
	const doing = "begin to score turns again"
	selection, err := asJSON(r.Selection)
	if err != nil {
		return err
	}
	counts, place, err := advanced(r)
	if err != nil {
		return err
	}
	err = s.transact(ctx, func(tx tx) error {
		if err := tx.lockReprocessings(ctx, r.AppID); err != nil {
			return err
		}
		active, found, err := first(ctx, tx.conn, only[string], `SELECT id FROM reprocessings
			WHERE app_id = $1 AND state IN ('running', 'undoing') AND ($2 = '' OR user_id = '' OR user_id = $2) LIMIT 1`,
			r.AppID, r.UserID)
		if err != nil {
			return err
		}
		if found {
			return memory.Errorf(memory.KindConflict,
				"reprocessing %s of the same user has not ended: wait for it, or undo it", active)
		}
		if r.UserID != "" {
			if err := s.Admit(ctx, tx.on, r.Owner); err != nil {
				return err
			}
		}
		_, err = tx.exec(ctx, `INSERT INTO reprocessings
			(id, app_id, user_id, selection, state, counts, place, note, created_at, ended_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			r.ID, r.AppID, r.UserID, selection, r.State, counts, string(place), r.Note, r.CreatedAt, null(r.EndedAt))
		if err != nil {
			return err
		}
		return tx.enqueue(ctx, []river.InsertManyParams{{Args: job, InsertOpts: once()}})
	})
	return s.fault(err, doing)
}

func (s *Store) Reprocessing(ctx context.Context, appID, id string) (memory.Reprocessing, error) {
	return reprocessing(ctx, s.conn, appID, id)
}

func reprocessing(ctx context.Context, c conn, appID, id string) (r memory.Reprocessing, err error) {
	if !memory.IsID(id) {
		return r, NotFound("reprocessing", id)
	}
	row, ok, err := first(ctx, c, reprocessingFields, reprocessingByID, id, appID)
	if err := c.require(ok, err, "find the reprocessing", NotFound("reprocessing", id)); err != nil {
		return r, err
	}
	return row.run()
}

func (s *Store) ListReprocessings(ctx context.Context, f db.ReprocessingFilter) ([]memory.Reprocessing, error) {
	var where Conditions
	where.Add(`app_id = ?`, f.AppID)
	if f.UserID != "" {
		where.Add(`user_id = ?`, f.UserID)
	}
	if p := f.Before; p != nil {
		where.Add(`(created_at, id) < (?, ?)`, p.At, p.ID)
	}
	rows, err := page(ctx, s.conn, reprocessingFields, selectReprocessings+` WHERE `, where, `created_at DESC, id DESC`,
		f.Limit)
	if err != nil {
		return nil, s.fault(err, "list the reprocessings")
	}
	found := make([]memory.Reprocessing, len(rows))
	for i := range rows {
		if found[i], err = rows[i].run(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// advanced returns the columns that change with each step of a run.
func advanced(r memory.Reprocessing) (counts, place json.RawMessage, err error) {
	if counts, err = asJSON(r.Counts); err == nil {
		place, err = asJSON(r.Place)
	}
	return counts, place, err
}

func (s *Store) AdvanceReprocessing(ctx context.Context, from, to memory.Reprocessing) error {
	return s.advance(ctx, from, to)
}

func (u *UserTx) AdvanceReprocessing(ctx context.Context, from, to memory.Reprocessing) error {
	return u.advance(ctx, from, to)
}

func (c conn) advance(ctx context.Context, from, to memory.Reprocessing) error {
	counts, place, err := advanced(to)
	if err != nil {
		return err
	}
	_, was, err := advanced(from)
	if err != nil {
		return err
	}
	n, err := c.exec(ctx, `UPDATE reprocessings SET state = $4, counts = $5, place = $6, note = $7, ended_at = $8
		WHERE id = $1 AND {|+}state = $2 AND {|+}place = $3`,
		from.ID, from.State, string(was), to.State, counts, string(place), rowcodec.Storable(to.Note), null(to.EndedAt))
	return c.require(n == 1, err, "note how far the turns are scored again", db.ErrReprocessing)
}

func (s *Store) UndoReprocessing(ctx context.Context, appID, id string, job db.Job) (
	r memory.Reprocessing, err error,
) {
	err = s.transact(ctx, func(tx tx) error {
		if err := tx.lockReprocessings(ctx, appID); err != nil {
			return err
		}
		if r, err = reprocessing(ctx, tx.conn, appID, id); err != nil {
			return err
		}
		if r.State == memory.ReprocessingUndoing || r.State == memory.ReprocessingUndone {
			return nil
		}
		later, found, err := first(ctx, tx.conn, only[string], `SELECT id FROM reprocessings
			WHERE app_id = $1 AND (created_at, id) > ($2, $3) AND state <> 'undone'
				AND ($4 = '' OR user_id = '' OR user_id = $4) ORDER BY created_at DESC, id DESC LIMIT 1`,
			appID, r.CreatedAt, r.ID, r.UserID)
		if err != nil {
			return err
		}
		if found {
			return memory.Errorf(memory.KindConflict, "reprocessing %s of the same user came later: undo it first", later)
		}
		r.State, r.Note = memory.ReprocessingUndoing, ""
		r.EndedAt = time.Time{}
		if _, err := tx.exec(ctx, `UPDATE reprocessings SET state = 'undoing', note = '', ended_at = NULL WHERE id = $1`,
			id); err != nil {
			return err
		}
		return tx.enqueue(ctx, []river.InsertManyParams{{Args: job, InsertOpts: once()}})
	})
	return r, s.fault(err, "undo the reprocessing")
}

func (s *Store) UserWithTurns(ctx context.Context, appID, after string) (string, error) {
	user, _, err := first(ctx, s.conn, only[string], `SELECT user_id FROM turns WHERE app_id = $1 AND user_id > $2
		ORDER BY app_id, user_id LIMIT 1`, appID, after)
	return user, s.fault(err, "find the next user with turns")
}

// byScorer chooses turns by what scored them; see db.Reprocessings.SelectTurns.
const byScorer = `(scored_by = ? OR scored_by = '' AND CASE
	WHEN EXISTS (SELECT 1 FROM candidates AS c WHERE c.turn_id = turns.id) THEN
		EXISTS (SELECT 1 FROM candidates AS c WHERE c.turn_id = turns.id AND {|+}c.scorer = ?)
	ELSE ? = 'rules' END)`

func (s *Store) SelectTurns(
	ctx context.Context, owner memory.Owner, sel memory.TurnSelection, after db.Position, limit int,
) ([]db.Position, error) {
	var where Conditions
	where.Add(`app_id = ? AND user_id = ?`, owner.AppID, owner.UserID)
	where.Add(`{|+}status = 'processed' AND memory IS NULL AND (said_at, id) > (?, ?)`, after.At, orLeast(after.ID))
	if sel.ConversationID != "" {
		where.Add(`{|+}conversation_id = ?`, sel.ConversationID)
	}
	if !sel.From.IsZero() {
		where.Add(`said_at >= ?`, sel.From)
	}
	if !sel.Until.IsZero() {
		where.Add(`said_at < ?`, sel.Until)
	}
	if sel.Scorer != "" {
		where.Add(byScorer, sel.Scorer, sel.Scorer, sel.Scorer)
	}
	if sel.Policy != nil {
		where.Add(`scored_policy = ?`, *sel.Policy)
	}
	if sel.PolicyBefore != nil {
		where.Add(`scored_policy < ?`, *sel.PolicyBefore)
	}
	found, err := page(ctx, s.long(), func(p *db.Position) []any { return []any{&p.At, &p.ID} },
		`SELECT said_at, id FROM turns{| INDEXED BY turns_by_user} WHERE `, where, `said_at, id`, limit)
	return found, s.fault(err, "select turns to be scored again")
}

func reprocessedFields(t *reprocessedRow) []any {
	return []any{&t.RunID, &t.AppID, &t.UserID, &t.At, &t.TurnID, &t.Written, &t.before}
}

// reprocessedRow is a row of reprocessed_turns.
type reprocessedRow struct {
	memory.ReprocessedTurn
	before json.RawMessage
}

func (c conn) reprocessed(ctx context.Context, where string, args ...any) ([]memory.ReprocessedTurn, error) {
	rows, err := collect(ctx, c, reprocessedFields, `SELECT reprocessing_id, app_id, user_id, said_at, turn_id, written,
		before FROM reprocessed_turns WHERE reprocessing_id = $1`+where, args...)
	found := make([]memory.ReprocessedTurn, len(rows))
	for i, r := range rows {
		found[i] = r.ReprocessedTurn
		if err := json.Unmarshal(r.before, &found[i].Before); err != nil {
			return nil, memory.Errorf(memory.KindInternal, "read what turn %s was: %w", r.TurnID, err)
		}
	}
	return found, c.fault(err, "read the turns that were scored again")
}

func (s *Store) ReprocessedTurns(ctx context.Context, runID string, limit int) ([]memory.ReprocessedTurn, error) {
	return s.reprocessed(ctx, ` ORDER BY user_id DESC, said_at DESC, turn_id DESC LIMIT $2`, runID, limit)
}

func (u *UserTx) Reprocessed(ctx context.Context, t memory.ReprocessedTurn) (memory.ReprocessedTurn, bool, error) {
	found, err := u.reprocessed(ctx, ` AND user_id = $2 AND said_at = $3 AND turn_id = $4`,
		t.RunID, u.Owner.UserID, t.At, t.TurnID)
	if err != nil || len(found) == 0 {
		return t, false, err
	}
	return found[0], true, nil
}

func (u *UserTx) NoteReprocessed(ctx context.Context, t memory.ReprocessedTurn) error {
	before, err := asJSON(t.Before)
	if err != nil {
		return err
	}
	_, err = u.exec(ctx, `INSERT INTO reprocessed_turns
		(reprocessing_id, app_id, user_id, said_at, turn_id, written, before) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (reprocessing_id, user_id, said_at, turn_id) DO UPDATE
			SET written = excluded.written, before = excluded.before`,
		t.RunID, u.Owner.AppID, u.Owner.UserID, t.At, t.TurnID, t.Written, before)
	return u.fault(err, "note what the turn was")
}

func (u *UserTx) RemoveReprocessed(ctx context.Context, t memory.ReprocessedTurn) error {
	_, err := u.exec(ctx, `DELETE FROM reprocessed_turns
		WHERE reprocessing_id = $1 AND user_id = $2 AND said_at = $3 AND turn_id = $4`,
		t.RunID, u.Owner.UserID, t.At, t.TurnID)
	return u.fault(err, "remove what the turn was")
}

func (u *UserTx) DropCandidates(ctx context.Context, turnID string, ids []string) error {
	_, err := u.exec(ctx, `DELETE FROM candidates WHERE turn_id = $3 AND {|+}app_id = $1 AND {|+}user_id = $2
		AND {|+}id = ANY($4::uuid[])`, u.Owner.AppID, u.Owner.UserID, turnID, ids)
	return u.fault(err, "remove candidates of the turn")
}

func (u *UserTx) NoteScoring(ctx context.Context, turnID string, scored memory.Scoring) error {
	_, err := u.exec(ctx, `UPDATE turns SET scored_by = $4, scored_policy = $5
		WHERE id = $1 AND {|+}app_id = $2 AND {|+}user_id = $3`,
		turnID, u.Owner.AppID, u.Owner.UserID, scored.By, scored.Policy)
	return u.fault(err, "note what scored the turn")
}

func (s *Store) PurgeReprocessings(ctx context.Context, before time.Time) error {
	_, err := s.exec(ctx, `DELETE FROM reprocessed_turns WHERE reprocessing_id IN (
		SELECT id FROM reprocessings WHERE ended_at IS NOT NULL AND ended_at < $1)`, before)
	if err == nil {
		_, err = s.exec(ctx, `DELETE FROM reprocessings WHERE ended_at IS NOT NULL AND ended_at < $1`, before)
	}
	return s.fault(err, "delete old reprocessings")
}
