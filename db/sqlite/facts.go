package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const factColumns = `id, app_id, user_id, type, key, value, confidence, valid_from, valid_until, source, state, reason,
	recorded_at, coalesce(memory_id, ''), told, due_at`

// factFields are the destinations of factColumns.
func factFields(f *memory.Fact) []any {
	return []any{&f.ID, &f.AppID, &f.UserID, &f.Type, &f.Key, (*[]byte)(&f.Value), &f.Confidence, (*instant)(&f.ValidFrom),
		(*instant)(&f.ValidUntil), &f.Source, &f.State, &f.Reason, (*instant)(&f.RecordedAt), &f.MemoryID, &f.EndsMemory, (*instant)(&f.Due)}
}

// facts runs a query for factColumns; from names the table, with its index where one must be chosen.
func facts(ctx context.Context, q querier, from, where string, args ...any) ([]memory.Fact, error) {
	return collect(ctx, q, factFields, `SELECT `+factColumns+` FROM `+from+` WHERE `+where, args...)
}

// ListFacts pages through the facts that are valid at an instant.
func (s *Store) ListFacts(ctx context.Context, f db.FactFilter) ([]memory.Fact, error) {
	var where conditions
	from := `facts INDEXED BY facts_by_time`
	where.add(`app_id = ? AND user_id = ? AND state = 'accepted'`, f.Owner.AppID, f.Owner.UserID)
	where.add(`valid_from <= ? AND (valid_until IS NULL OR valid_until > ?)`, moment(f.At), moment(f.At))
	if f.Type != "" {
		from = `facts INDEXED BY facts_beginnings`
		where.add(`type = ?`, f.Type)
	}
	if f.Key != "" {
		where.add(`key = ?`, f.Key)
	}
	if p := f.Before; p != nil {
		where.add(`(valid_from, id) < (?, ?)`, moment(p.At), p.ID)
	}
	found, err := facts(ctx, s.reader, from, where.sql()+` ORDER BY valid_from DESC, id DESC LIMIT ?`, append(where.args, f.Limit)...)
	return found, fault(err, "list the facts")
}

// FactHistory pages through all evidence on a timeline, oldest first.
func (s *Store) FactHistory(ctx context.Context, t db.Timeline, after *db.Position, limit int) ([]memory.Fact, error) {
	var where conditions
	where.add(`app_id = ? AND user_id = ? AND type = ? AND key = ?`, t.Owner.AppID, t.Owner.UserID, t.Type, t.Key)
	if after != nil {
		where.add(`(recorded_at, id) > (?, ?)`, moment(after.At), after.ID)
	}
	found, err := facts(ctx, s.reader, `facts INDEXED BY facts_history`, where.sql()+` ORDER BY recorded_at, id LIMIT ?`,
		append(where.args, limit)...)
	return found, fault(err, "read the history of the fact")
}

// DueFacts lists facts of any owner whose memories must begin or end.
func (s *Store) DueFacts(ctx context.Context, now time.Time, after db.Position, limit int) ([]memory.Fact, error) {
	var where conditions
	where.add(`due_at <= ?`, moment(now))
	if after.ID != "" {
		where.add(`(due_at, id) > (?, ?)`, moment(after.At), after.ID)
	}
	found, err := facts(ctx, s.reader, `facts`, where.sql()+` ORDER BY due_at, id LIMIT ?`, append(where.args, limit)...)
	return found, fault(err, "list the facts that are due")
}

// oneFact is the first fact of the timeline that a condition leaves.
func (u *userTx) oneFact(ctx context.Context, from, factType, key, condition string, args ...any) (f memory.Fact, ok bool, err error) {
	found, err := facts(ctx, u.tx, from, `app_id = ? AND user_id = ? AND type = ? AND key = ? AND `+condition+` LIMIT 1`,
		append([]any{u.Owner.AppID, u.Owner.UserID, factType, key}, args...)...)
	if err != nil || len(found) == 0 {
		return f, false, fault(err, "read the user's fact")
	}
	return found[0], true, nil
}

// FactAt returns the fact that is valid at an instant. As none overlap, only
// the latest that began can be.
func (u *userTx) FactAt(ctx context.Context, factType, key string, at time.Time) (memory.Fact, bool, error) {
	f, ok, err := u.oneFact(ctx, `facts INDEXED BY facts_beginnings`, factType, key,
		`state = 'accepted' AND valid_from <= ? ORDER BY valid_from DESC`, moment(at))
	return f, ok && f.Valid(at), err
}

// FactWithMemory returns the fact of the timeline that has a memory.
func (u *userTx) FactWithMemory(ctx context.Context, factType, key string) (memory.Fact, bool, error) {
	return u.oneFact(ctx, `facts INDEXED BY facts_told`, factType, key, `told`)
}

// NextFact is when the next accepted fact begins or an ended one stands.
func (u *userTx) NextFact(ctx context.Context, factType, key string, after time.Time) (time.Time, error) {
	next, err := one(ctx, u.tx, func(at *instant) []any { return []any{at} }, `SELECT valid_from FROM facts INDEXED BY facts_timeline
		WHERE app_id = ? AND user_id = ? AND type = ? AND key = ? AND state IN ('accepted', 'ended') AND valid_from > ?
		ORDER BY valid_from LIMIT 1`, u.Owner.AppID, u.Owner.UserID, factType, key, moment(after))
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, nil
	}
	return time.Time(next), fault(err, "read the user's next fact")
}

// AddFact stores a new fact.
func (u *userTx) AddFact(ctx context.Context, f memory.Fact) error {
	if err := rowcodec.CheckFact(u.Owner, f); err != nil {
		return err
	}
	_, err := u.tx.ExecContext(ctx, `
		INSERT INTO facts (id, app_id, user_id, type, key, value, confidence, valid_from, valid_until, source, state, reason,
			recorded_at, memory_id, told, due_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, ''), ?, ?)`,
		f.ID, u.Owner.AppID, u.Owner.UserID, f.Type, f.Key, jsonText(f.Value), f.Confidence, moment(f.ValidFrom), instant(f.ValidUntil), f.Source,
		f.State, rowcodec.Storable(f.Reason), moment(f.RecordedAt), f.MemoryID, f.EndsMemory, instant(f.Due))
	return fault(err, "store the fact")
}

// ChangeFact stores what may change of a fact.
func (u *userTx) ChangeFact(ctx context.Context, f memory.Fact) error {
	if err := rowcodec.CheckFact(u.Owner, f); err != nil {
		return err
	}
	result, err := u.tx.ExecContext(ctx, `UPDATE facts
		SET confidence = ?, valid_until = ?, state = ?, reason = ?, memory_id = nullif(?, ''), told = ?, due_at = ?
		WHERE id = ? AND app_id = ? AND user_id = ?`,
		f.Confidence, instant(f.ValidUntil), f.State, rowcodec.Storable(f.Reason), f.MemoryID, f.EndsMemory, instant(f.Due),
		f.ID, u.Owner.AppID, u.Owner.UserID)
	if err == nil && affected(result) == 0 {
		return notFound("fact", f.ID)
	}
	return fault(err, "change the fact")
}
