package sqlite

import (
	"context"
	"database/sql"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Memory returns one memory of the app, in any status, without its embedding.
func (s *Store) Memory(ctx context.Context, appID, id string) (memory.Memory, error) {
	m, err := one(ctx, s.reader, memoryFields, `SELECT `+withoutVectors+` FROM agent_memories WHERE id = ? AND app_id = ?`, id, appID)
	if err = fault(err, "read the memory"); memory.IsKind(err, memory.KindNotFound) {
		return m, notFound("memory", id)
	}
	return m, err
}

// History lists the events of a memory of the app, oldest first.
func (s *Store) History(ctx context.Context, appID, memoryID string) ([]memory.Event, error) {
	events, err := collect(ctx, s.reader, eventFields, `SELECT `+eventColumns+` FROM memory_events
		WHERE memory_id = ? AND app_id = ? ORDER BY at, id`, memoryID, appID)
	if err != nil {
		return nil, fault(err, "read the history of the memory")
	}
	if len(events) == 0 {
		_, err = s.Memory(ctx, appID, memoryID)
	}
	return events, err
}

// Touch counts accesses.
func (s *Store) Touch(ctx context.Context, touches []db.Touch) error {
	err := s.writeLoosely(ctx, func(tx *sql.Tx) error {
		return each(ctx, tx, `UPDATE agent_memories
			SET access_count = access_count + ?, last_accessed_at = max(last_accessed_at, ?) WHERE id = ?`,
			touches, func(t db.Touch) []any { return []any{t.Count, moment(t.At), t.ID} })
	})
	return fault(err, "count the accesses")
}

// each runs one prepared statement for every item.
func each[T any](ctx context.Context, tx *sql.Tx, query string, items []T, args func(T) []any) error {
	statement, err := tx.PrepareContext(ctx, query)
	if err != nil {
		return err
	}
	defer statement.Close()
	for _, item := range items {
		if _, err := statement.ExecContext(ctx, args(item)...); err != nil {
			return err
		}
	}
	return nil
}
