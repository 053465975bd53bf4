package sqlite

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
		where.add(`(user_id, type, key, recorded_at, id) > (?, ?, ?, ?, ?)`, a.UserID, a.Type, a.Key, moment(a.RecordedAt), a.ID)
	}
	found, err := facts(ctx, s.reader, `facts INDEXED BY facts_history`, where.sql()+` ORDER BY user_id, type, key, recorded_at, id LIMIT ?`,
		append(where.args, of.Limit)...)
	return found, fault(err, "export the facts")
}

// RecordedFact returns a fact of the owner.
func (u *userTx) RecordedFact(ctx context.Context, id string) (memory.Fact, bool, error) {
	return recordedOne(ctx, u, factFields, `SELECT `+factColumns+` FROM facts WHERE id = ? AND +app_id = ? AND +user_id = ?`,
		id, u.Owner.AppID, u.Owner.UserID)
}
