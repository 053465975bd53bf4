package sqlite

import (
	"context"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// CountActive counts the owner's active memories.
func (s *Store) CountActive(ctx context.Context, owner memory.Owner) (n int, err error) {
	err = s.reader.QueryRowContext(ctx, `SELECT count(*) FROM agent_memories INDEXED BY agent_memories_documents
		WHERE app_id = ? AND user_id = ? AND status = 'active'`, owner.AppID, owner.UserID).Scan(&n)
	return n, fault(err, "count the user's memories")
}

// OwnerAges calls f with the id and age of each of the owner's active memories.
func (s *Store) OwnerAges(ctx context.Context, owner memory.Owner, f func(id string, a db.Age) error) error {
	const what = "read the ages of the user's memories"
	rows, err := s.reader.QueryContext(ctx, `
		SELECT id, created_at, last_accessed_at, access_count, importance_score, memory_type, pinned
		FROM agent_memories INDEXED BY agent_memories_documents
		WHERE app_id = ? AND user_id = ? AND status = 'active'`, owner.AppID, owner.UserID)
	if err != nil {
		return fault(err, what)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		var a db.Age
		err := rows.Scan(&id, (*instant)(&a.CreatedAt), (*instant)(&a.LastAccessedAt), &a.AccessCount, &a.Importance, &a.Type, &a.Pinned)
		if err != nil {
			return fault(err, what)
		}
		if err := f(id, a); err != nil {
			return err
		}
	}
	return fault(rows.Err(), what)
}
