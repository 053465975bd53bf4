package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// CountActive counts the owner's active memories.
func (s *Store) CountActive(ctx context.Context, owner memory.Owner) (n int, err error) {
	err = s.pool.QueryRow(ctx, `SELECT count(*) FROM agent_memories WHERE app_id = $1 AND user_id = $2 AND status = 'active'`,
		owner.AppID, owner.UserID).Scan(&n)
	return n, fault(err, "count the user's memories")
}

// OwnerAges calls f with the id and age of each of the owner's active memories.
func (s *Store) OwnerAges(ctx context.Context, owner memory.Owner, f func(id string, a db.Age) error) error {
	rows, _ := s.pool.Query(ctx, `
		SELECT id, created_at, last_accessed_at, access_count, importance_score, memory_type, pinned
		FROM agent_memories WHERE app_id = $1 AND user_id = $2 AND status = 'active'`, owner.AppID, owner.UserID)
	var id string
	var a db.Age
	var refused error
	_, err := pgx.ForEachRow(rows,
		[]any{&id, &a.CreatedAt, &a.LastAccessedAt, &a.AccessCount, &a.Importance, &a.Type, &a.Pinned},
		func() error {
			refused = f(id, a)
			return refused
		})
	if refused != nil {
		return refused
	}
	return fault(err, "read the ages of the user's memories")
}
