package postgres

import (
	"time"

	"github.com/jackc/pgx/v5"

	"hippocampus/internal/memory"
)

const insertAnnouncements = `
	INSERT INTO announcements (app_id, user_id, kind, at, data)
	SELECT $1, $2, a.kind, a.at, a.data::json
	FROM unnest($3::text[], $4::timestamptz[], $5::text[]) WITH ORDINALITY AS a (kind, at, data, n) ORDER BY n`

// queueAnnouncements queues the insertion of an owner's announcements.
func queueAnnouncements(batch *pgx.Batch, owner memory.Owner, announcements []memory.Announcement) {
	if len(announcements) == 0 {
		return
	}
	batch.Queue(insertAnnouncements, owner.AppID, owner.UserID,
		column(announcements, func(a memory.Announcement) string { return string(a.Kind) }),
		column(announcements, func(a memory.Announcement) time.Time { return a.At }),
		column(announcements, func(a memory.Announcement) string { return string(a.Data) }))
}
