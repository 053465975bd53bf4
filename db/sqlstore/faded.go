package sqlstore

import (
	"context"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

const fadedOf = ` FROM agent_memories{| INDEXED BY agent_memories_faded}
	WHERE app_id = $1 AND user_id = $2 AND faded AND {|+}status = 'forgotten'`

func (s *Store) FadedWords(ctx context.Context, owner memory.Owner, limit int) ([]db.FadedWords, error) {
	found, err := collect(ctx, s.conn, func(w *db.FadedWords) []any { return []any{&w.ID, &w.Lexemes} },
		`SELECT id, lexemes`+fadedOf+` ORDER BY last_accessed_at DESC, id DESC LIMIT $3`, owner.AppID, owner.UserID, limit)
	return found, s.fault(err, "read the words of what has faded")
}

func (s *Store) Faded(ctx context.Context, owner memory.Owner) ([]memory.Memory, error) {
	found, err := collect(ctx, s.conn, memoryFields, `SELECT `+memoryColumns+fadedOf+` ORDER BY last_accessed_at, id`,
		owner.AppID, owner.UserID)
	return found, s.fault(err, "read what has faded")
}

func (s *Store) Recollectable(ctx context.Context, owner memory.Owner, ids []string) ([]memory.Memory, error) {
	found, err := collect(ctx, s.conn, memoryFields, `SELECT `+memoryColumns+` FROM agent_memories AS m
		WHERE id = ANY($3::uuid[]) AND {|+}app_id = $1 AND {|+}user_id = $2 AND faded AND {|+}status = 'forgotten'
			AND NOT EXISTS (SELECT 1 FROM memory_relations AS r JOIN agent_memories AS s ON s.id = r.from_id
				WHERE r.to_id = m.id AND r.kind = 'derived_from' AND s.status = 'superseded')`,
		owner.AppID, owner.UserID, validIDs(ids))
	return found, s.fault(err, "read what may be recollected")
}
