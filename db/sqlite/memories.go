package sqlite

import (
	"context"
	"database/sql"

	"hippocampus/db"
)

// Touch counts accesses.
func (s *Store) Touch(ctx context.Context, touches []db.Touch) error {
	err := s.writeAsync(ctx, func(tx *sql.Tx) error {
		return each(ctx, tx, `UPDATE agent_memories
			SET access_count = access_count + ?, last_accessed_at = max(last_accessed_at, ?) WHERE id = ?`,
			touches, func(t db.Touch) []any { return []any{t.Count, moment(t.At), t.ID} })
	})
	return fault(err, "count the accesses")
}

// each runs one prepared statement for each item.
func each[T any](ctx context.Context, tx *sql.Tx, query string, items []T, args func(T) []any) error {
	rows := make([][]any, len(items))
	for i, item := range items {
		rows[i] = args(item)
	}
	_, err := transaction{tx: tx}.ExecAll(ctx, query, rows)
	return err
}
