package sqlstore

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const (
	factColumns = `id, app_id, user_id, type, key, value, confidence, valid_from, valid_until, source, state, reason,
	recorded_at, memory_id, told, due_at`
	selectFacts = `SELECT ` + factColumns + ` FROM facts`
)

func factFields(f *memory.Fact) []any {
	return []any{&f.ID, &f.AppID, &f.UserID, &f.Type, &f.Key, &f.Value, &f.Confidence, &f.ValidFrom, &f.ValidUntil,
		&f.Source, &f.State, &f.Reason, &f.RecordedAt, (*ID)(&f.MemoryID), &f.EndsMemory, &f.Due}
}

func (s *Store) ListFacts(ctx context.Context, f db.FactFilter) ([]memory.Fact, error) {
	var where Conditions
	from := `{| INDEXED BY facts_by_time} WHERE `
	where.Add(`app_id = ? AND user_id = ? AND state = 'accepted'`, f.Owner.AppID, f.Owner.UserID)
	if !f.At.IsZero() {
		where.Add(`valid_from <= ? AND (valid_until IS NULL OR valid_until > ?)`, f.At, f.At)
	}
	if f.Type != "" {
		from = `{| INDEXED BY facts_beginnings} WHERE `
		where.Add(`type = ?`, f.Type)
	}
	if f.Key != "" {
		where.Add(`key = ?`, f.Key)
	}
	if p := f.Before; p != nil {
		where.Add(`(valid_from, id) < (?, ?)`, p.At, p.ID)
	}
	found, err := page(ctx, s.conn, factFields, selectFacts+from, where, `valid_from DESC, id DESC`, f.Limit)
	return found, s.fault(err, "list the facts")
}

func (s *Store) FactHistory(ctx context.Context, t db.Timeline, after *db.Position, limit int) ([]memory.Fact, error) {
	var where Conditions
	where.Add(`app_id = ? AND user_id = ? AND type = ? AND key = ?`, t.Owner.AppID, t.Owner.UserID, t.Type, t.Key)
	if after != nil {
		where.Add(`(recorded_at, id) > (?, ?)`, after.At, after.ID)
	}
	found, err := page(ctx, s.conn, factFields, selectFacts+`{| INDEXED BY facts_history} WHERE `,
		where, `recorded_at, id`, limit)
	return found, s.fault(err, "read the history of the fact")
}

func (s *Store) DueFacts(ctx context.Context, now time.Time, after db.Position, limit int) ([]memory.Fact, error) {
	var where Conditions
	where.Add(`due_at <= ?`, now)
	if after.ID != "" {
		where.Add(`(due_at, id) > (?, ?)`, after.At, after.ID)
	}
	found, err := page(ctx, s.conn, factFields, selectFacts+` WHERE `, where, `due_at, id`, limit)
	return found, s.fault(err, "list the facts that are due")
}

func (s *Store) ExportFacts(ctx context.Context, of db.Extent, after *memory.Fact) ([]memory.Fact, error) {
	where := within(of)
	if a := after; a != nil {
		where.Add(`(user_id, type, key, recorded_at, id) > (?, ?, ?, ?, ?)`, a.UserID, a.Type, a.Key, a.RecordedAt, a.ID)
	}
	found, err := page(ctx, s.conn, factFields, selectFacts+`{| INDEXED BY facts_history} WHERE `, where,
		`user_id, type, key, recorded_at, id`, of.Limit)
	return found, s.fault(err, "export the facts")
}

func (u *UserTx) RecordedFact(ctx context.Context, id string) (memory.Fact, bool, error) {
	f, ok, err := first(ctx, u.conn, factFields, selectFacts+` WHERE id = $3 AND {|+}app_id = $1 AND {|+}user_id = $2`,
		u.Owner.AppID, u.Owner.UserID, id)
	return f, ok, u.fault(err, "read the fact")
}

// oneFact returns the first fact of a timeline that meets a condition, which
// has parameters from $5 on.
func (u *UserTx) oneFact(
	ctx context.Context, factType, key, index, condition string, args ...any,
) (memory.Fact, bool, error) {
	f, ok, err := first(ctx, u.conn, factFields,
		selectFacts+index+` WHERE app_id = $1 AND user_id = $2 AND type = $3 AND key = $4 AND `+condition+` LIMIT 1`,
		append([]any{u.Owner.AppID, u.Owner.UserID, factType, key}, args...)...)
	return f, ok, u.fault(err, "read the user's fact")
}

// FactAt returns the fact that is valid at an instant. As facts do not overlap,
// only the latest that began can be valid.
func (u *UserTx) FactAt(ctx context.Context, factType, key string, at time.Time) (memory.Fact, bool, error) {
	f, ok, err := u.oneFact(ctx, factType, key, `{| INDEXED BY facts_beginnings}`,
		`state = 'accepted' AND valid_from <= $5 ORDER BY valid_from DESC`, at)
	return f, ok && f.Valid(at), err
}

func (u *UserTx) FactWithMemory(ctx context.Context, factType, key string) (memory.Fact, bool, error) {
	return u.oneFact(ctx, factType, key, `{| INDEXED BY facts_told}`, `told`)
}

func (u *UserTx) FactsOf(ctx context.Context, memoryIDs []string) ([]memory.Fact, error) {
	found, err := collect(ctx, u.conn, factFields, selectFacts+`{| INDEXED BY facts_of_memories}
		WHERE app_id = $1 AND user_id = $2 AND memory_id = ANY($3::uuid[]) AND state = 'accepted' AND memory_id IS NOT NULL
		ORDER BY memory_id, valid_from, id`, u.Owner.AppID, u.Owner.UserID, validIDs(memoryIDs))
	return found, u.fault(err, "read the facts of memories")
}

func (u *UserTx) NextFact(ctx context.Context, factType, key string, after time.Time) (time.Time, error) {
	next, _, err := first(ctx, u.conn, only[time.Time], `SELECT valid_from FROM facts{| INDEXED BY facts_timeline}
		WHERE app_id = $1 AND user_id = $2 AND type = $3 AND key = $4 AND state IN ('accepted', 'ended') AND valid_from > $5
		ORDER BY valid_from LIMIT 1`, u.Owner.AppID, u.Owner.UserID, factType, key, after)
	return next, u.fault(err, "read the user's next fact")
}

func (u *UserTx) AddFact(ctx context.Context, f memory.Fact) error {
	if err := u.check("fact", f.Owner, f.ID, f.MemoryID); err != nil {
		return err
	}
	_, err := u.exec(ctx, `INSERT INTO facts (`+factColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
		f.ID, u.Owner.AppID, u.Owner.UserID, f.Type, f.Key, f.Value, f.Confidence, f.ValidFrom, null(f.ValidUntil), f.Source,
		f.State, rowcodec.Storable(f.Reason), f.RecordedAt, nullID(f.MemoryID), f.EndsMemory, null(f.Due))
	return u.fault(err, "store the fact")
}

func (u *UserTx) ChangeFact(ctx context.Context, f memory.Fact) error {
	if err := u.check("fact", f.Owner, f.ID, f.MemoryID); err != nil {
		return err
	}
	n, err := u.exec(ctx, `UPDATE facts
		SET confidence = $4, valid_until = $5, state = $6, reason = $7, memory_id = $8, told = $9, due_at = $10
		WHERE id = $1 AND app_id = $2 AND user_id = $3`,
		f.ID, u.Owner.AppID, u.Owner.UserID, f.Confidence, null(f.ValidUntil), f.State, rowcodec.Storable(f.Reason),
		nullID(f.MemoryID), f.EndsMemory, null(f.Due))
	return u.require(n > 0, err, "change the fact", NotFound("fact", f.ID))
}
