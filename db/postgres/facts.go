package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const factColumns = `id, app_id, user_id, type, key, value, confidence, valid_from, valid_until, source, state, reason,
	recorded_at, coalesce(memory_id::text, ''), told, due_at`

// facts runs a query for factColumns.
func facts(ctx context.Context, q querier, sql string, args ...any) ([]memory.Fact, error) {
	rows, _ := q.Query(ctx, `SELECT `+factColumns+` FROM facts WHERE `+sql, args...)
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (f memory.Fact, err error) {
		var until, due *time.Time
		err = row.Scan(&f.ID, &f.AppID, &f.UserID, &f.Type, &f.Key, &f.Value, &f.Confidence, &f.ValidFrom, &until, &f.Source,
			&f.State, &f.Reason, &f.RecordedAt, &f.MemoryID, &f.EndsMemory, &due)
		f.ValidUntil, f.Due = orZero(until), orZero(due)
		return f, err
	})
}

// ListFacts pages through the facts that are valid at an instant.
func (s *Store) ListFacts(ctx context.Context, f db.FactFilter) ([]memory.Fact, error) {
	var where conditions
	where.add(`app_id = ? AND user_id = ? AND state = 'accepted'`, f.Owner.AppID, f.Owner.UserID)
	where.add(`valid_from <= ? AND (valid_until IS NULL OR valid_until > ?)`, f.At, f.At)
	if f.Type != "" {
		where.add(`type = ?`, f.Type)
	}
	if f.Key != "" {
		where.add(`key = ?`, f.Key)
	}
	if p := f.Before; p != nil {
		where.add(`(valid_from, id) < (?, ?)`, p.At, p.ID)
	}
	found, err := facts(ctx, s.pool, where.sql()+` ORDER BY valid_from DESC, id DESC LIMIT `+where.arg(f.Limit), where.args...)
	return found, fault(err, "list the facts")
}

// FactHistory pages through all evidence on a timeline, oldest first.
func (s *Store) FactHistory(ctx context.Context, t db.Timeline, after *db.Position, limit int) ([]memory.Fact, error) {
	var where conditions
	where.add(`app_id = ? AND user_id = ? AND type = ? AND key = ?`, t.Owner.AppID, t.Owner.UserID, t.Type, t.Key)
	if after != nil {
		where.add(`(recorded_at, id) > (?, ?)`, after.At, after.ID)
	}
	found, err := facts(ctx, s.pool, where.sql()+` ORDER BY recorded_at, id LIMIT `+where.arg(limit), where.args...)
	return found, fault(err, "read the history of the fact")
}

// DueFacts lists facts of any owner whose memories must begin or end.
func (s *Store) DueFacts(ctx context.Context, now time.Time, after db.Position, limit int) ([]memory.Fact, error) {
	var where conditions
	where.add(`due_at <= ?`, now)
	if after.ID != "" {
		where.add(`(due_at, id) > (?, ?)`, after.At, after.ID)
	}
	found, err := facts(ctx, s.pool, where.sql()+` ORDER BY due_at, id LIMIT `+where.arg(limit), where.args...)
	return found, fault(err, "list the facts that are due")
}

// oneFact is the first fact of the timeline that a condition, on parameters from $5 on, leaves.
func (u *userTx) oneFact(ctx context.Context, factType, key, condition string, args ...any) (f memory.Fact, ok bool, err error) {
	found, err := facts(ctx, u.tx, `app_id = $1 AND user_id = $2 AND type = $3 AND key = $4 AND `+condition+` LIMIT 1`,
		append([]any{u.Owner.AppID, u.Owner.UserID, factType, key}, args...)...)
	if err != nil || len(found) == 0 {
		return f, false, fault(err, "read the user's fact")
	}
	return found[0], true, nil
}

// FactAt returns the fact that is valid at an instant. As none overlap, only
// the latest that began can be.
func (u *userTx) FactAt(ctx context.Context, factType, key string, at time.Time) (memory.Fact, bool, error) {
	f, ok, err := u.oneFact(ctx, factType, key, `state = 'accepted' AND valid_from <= $5 ORDER BY valid_from DESC`, at)
	return f, ok && f.Valid(at), err
}

// FactWithMemory returns the fact of the timeline that has a memory.
func (u *userTx) FactWithMemory(ctx context.Context, factType, key string) (memory.Fact, bool, error) {
	return u.oneFact(ctx, factType, key, `told`)
}

// NextFact is when the next accepted fact begins or an ended one stands.
func (u *userTx) NextFact(ctx context.Context, factType, key string, after time.Time) (next time.Time, err error) {
	err = u.tx.QueryRow(ctx, `SELECT valid_from FROM facts
		WHERE app_id = $1 AND user_id = $2 AND type = $3 AND key = $4 AND state IN ('accepted', 'ended') AND valid_from > $5
		ORDER BY valid_from LIMIT 1`, u.Owner.AppID, u.Owner.UserID, factType, key, after).Scan(&next)
	if errors.Is(err, pgx.ErrNoRows) {
		return time.Time{}, nil
	}
	return next, fault(err, "read the user's next fact")
}

// AddFact stores a new fact.
func (u *userTx) AddFact(ctx context.Context, f memory.Fact) error {
	if err := rowcodec.CheckFact(u.Owner, f); err != nil {
		return err
	}
	_, err := u.tx.Exec(ctx, `
		INSERT INTO facts (id, app_id, user_id, type, key, value, confidence, valid_from, valid_until, source, state, reason,
			recorded_at, memory_id, told, due_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
		f.ID, u.Owner.AppID, u.Owner.UserID, f.Type, f.Key, f.Value, f.Confidence, f.ValidFrom, orNull(f.ValidUntil), f.Source,
		f.State, rowcodec.Storable(f.Reason), f.RecordedAt, idOrNull(f.MemoryID), f.EndsMemory, orNull(f.Due))
	return fault(err, "store the fact")
}

// ChangeFact stores what may change of a fact.
func (u *userTx) ChangeFact(ctx context.Context, f memory.Fact) error {
	if err := rowcodec.CheckFact(u.Owner, f); err != nil {
		return err
	}
	tag, err := u.tx.Exec(ctx, `UPDATE facts SET confidence = $4, valid_until = $5, state = $6, reason = $7, memory_id = $8, told = $9, due_at = $10
		WHERE id = $1 AND app_id = $2 AND user_id = $3`,
		f.ID, u.Owner.AppID, u.Owner.UserID, f.Confidence, orNull(f.ValidUntil), f.State, rowcodec.Storable(f.Reason),
		idOrNull(f.MemoryID), f.EndsMemory, orNull(f.Due))
	if err == nil && tag.RowsAffected() == 0 {
		return notFound("fact", f.ID)
	}
	return fault(err, "change the fact")
}
