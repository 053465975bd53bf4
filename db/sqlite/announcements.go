package sqlite

import (
	"context"
	"database/sql"
	"time"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// announce makes announcements of an owner within a transaction.
func announce(ctx context.Context, tx *sql.Tx, owner memory.Owner, announcements ...memory.Announcement) error {
	return each(ctx, tx, `INSERT INTO announcements (app_id, user_id, kind, at, data) VALUES (?, ?, ?, ?, ?)`,
		announcements, func(a memory.Announcement) []any {
			return []any{owner.AppID, owner.UserID, a.Kind, moment(a.At), jsonText(a.Data)}
		})
}

// Announce has announcements made at the commit.
func (u *userTx) Announce(_ context.Context, announcements []memory.Announcement) error {
	u.announced = append(u.announced, announcements...)
	return nil
}

// announcing are all that the transaction announces.
func (u *userTx) announcing() []memory.Announcement {
	return append(rowcodec.Announcing(u.events, u.written), u.announced...)
}

// wrote keeps memories as they are written, to be told of.
func (u *userTx) wrote(memories ...memory.Memory) {
	u.changed = true
	if u.written == nil {
		u.written = make(map[string]memory.Memory, len(memories))
	}
	for _, m := range memories {
		u.written[m.ID] = m
	}
}

const announcementColumns = `seq, app_id, user_id, kind, at, data`

func announcementFields(a *memory.Announcement) []any {
	return []any{&a.Place.Seq, &a.AppID, &a.UserID, &a.Kind, (*instant)(&a.At), (*[]byte)(&a.Data)}
}

// Announced lists announcements after a place, in order.
func (s *Store) Announced(ctx context.Context, f db.AnnouncementFilter) ([]memory.Announcement, error) {
	var where conditions
	where.add(`app_id = ?`, f.AppID)
	if f.UserID != "" {
		where.add(`user_id = ?`, f.UserID)
	}
	where.add(`seq > ?`, f.After.Seq)
	found, err := collect(ctx, s.reader, announcementFields,
		`SELECT `+announcementColumns+` FROM announcements WHERE `+where.sql()+` ORDER BY seq LIMIT ?`, append(where.args, f.Limit)...)
	return found, fault(err, "list the announcements")
}

// AnnouncedApps tells which apps have announcements after a place.
func (s *Store) AnnouncedApps(ctx context.Context, after memory.Place, limit int) (apps []string, through memory.Place, err error) {
	type last struct {
		app string
		seq int64
	}
	found, err := collect(ctx, s.reader, func(l *last) []any { return []any{&l.app, &l.seq} }, `
		WITH fresh AS (SELECT seq, app_id FROM announcements WHERE seq > ? ORDER BY seq LIMIT ?)
		SELECT app_id, max(seq) FROM fresh GROUP BY app_id`, after.Seq, limit)
	for _, l := range found {
		apps, after.Seq = append(apps, l.app), max(after.Seq, l.seq)
	}
	return apps, after, fault(err, "look for announcements")
}

// AnnouncedBounds tells up to where announcements may have been purged, and
// where later ones begin.
func (s *Store) AnnouncedBounds(ctx context.Context) (purged, head memory.Place, err error) {
	err = s.reader.QueryRowContext(ctx, `SELECT (SELECT seq FROM announcements_purged), `+lastNumber).Scan(&purged.Seq, &head.Seq)
	return purged, head, fault(err, "find the announcements' bounds")
}

// lastNumber is the greatest that an announcement has ever had; 0: there was none.
const lastNumber = `coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'announcements'), 0)`

// PurgeAnnouncements deletes old announcements.
func (s *Store) PurgeAnnouncements(ctx context.Context, before time.Time, limit int) (int, error) {
	var gone []int64
	err := s.write(ctx, func(tx *sql.Tx) (err error) {
		gone, err = collect(ctx, tx, func(seq *int64) []any { return []any{seq} }, `
			DELETE FROM announcements WHERE at < ? AND seq IN (SELECT seq FROM announcements WHERE seq > 0 ORDER BY seq LIMIT ?) RETURNING seq`,
			moment(before), limit)
		if err != nil || len(gone) == 0 {
			return err
		}
		last := gone[0]
		for _, seq := range gone {
			last = max(last, seq)
		}
		_, err = tx.ExecContext(ctx, `UPDATE announcements_purged SET seq = max(seq, ?)`, last)
		return err
	})
	return len(gone), fault(err, "purge announcements")
}
