package postgres

import (
	"context"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// within begins the conditions of an extent.
func within(of db.Extent) (where conditions) {
	where.add(`app_id = ?`, of.AppID)
	if of.UserID != "" {
		where.add(`user_id = ?`, of.UserID)
	}
	return where
}

// ExportFacts pages through the evidence of an app's timelines.
func (s *Store) ExportFacts(ctx context.Context, of db.Extent, after *memory.Fact) ([]memory.Fact, error) {
	where := within(of)
	if a := after; a != nil {
		where.add(`(user_id, type, key, recorded_at, id) > (?, ?, ?, ?, ?)`, a.UserID, a.Type, a.Key, a.RecordedAt, a.ID)
	}
	found, err := facts(ctx, s.pool, where.sql()+` ORDER BY user_id, type, key, recorded_at, id LIMIT `+where.arg(of.Limit), where.args...)
	return found, fault(err, "export the facts")
}

// RecordedFact returns a fact of the owner.
func (u *userTx) RecordedFact(ctx context.Context, id string) (f memory.Fact, ok bool, err error) {
	found, err := facts(ctx, u.tx, `id = $3 AND app_id = $1 AND user_id = $2`, u.Owner.AppID, u.Owner.UserID, id)
	if err != nil || len(found) == 0 {
		return f, false, fault(err, "read the fact")
	}
	return found[0], true, nil
}
