package sqlite

import (
	"context"
	"database/sql"

	"hippocampus/internal/memory"
)

// announce inserts announcements of an owner within a transaction.
func announce(ctx context.Context, tx *sql.Tx, owner memory.Owner, announcements ...memory.Announcement) error {
	return each(ctx, tx, `INSERT INTO announcements (app_id, user_id, kind, at, data) VALUES (?, ?, ?, ?, ?)`,
		announcements, func(a memory.Announcement) []any {
			return []any{owner.AppID, owner.UserID, a.Kind, moment(a.At), jsonText(a.Data)}
		})
}
