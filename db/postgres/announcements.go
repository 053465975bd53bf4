package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// settledBefore is the oldest transaction under way. Transactions get their
// numbers in order, so that all older ones have ended, and whatever commits from
// now on has this number or a greater one: rows below it are all there ever will
// be of them. The sequence alone would not do, as numbers are taken before commits.
const settledBefore = `pg_snapshot_xmin(pg_current_snapshot())::text::bigint`

const insertAnnouncements = `
	INSERT INTO announcements (app_id, user_id, kind, at, data)
	SELECT $1, $2, a.kind, a.at, a.data::json
	FROM unnest($3::text[], $4::timestamptz[], $5::text[]) WITH ORDINALITY AS a (kind, at, data, n) ORDER BY n`

// queueAnnouncements has a batch make announcements of an owner.
func queueAnnouncements(batch *pgx.Batch, owner memory.Owner, announcements []memory.Announcement) {
	n := len(announcements)
	if n == 0 {
		return
	}
	kinds, times, data := make([]string, n), make([]time.Time, n), make([]string, n)
	for i, a := range announcements {
		kinds[i], times[i], data[i] = string(a.Kind), a.At, string(a.Data)
	}
	batch.Queue(insertAnnouncements, owner.AppID, owner.UserID, kinds, times, data)
}

// announce makes announcements of an owner within a transaction.
func announce(ctx context.Context, tx session, owner memory.Owner, announcements ...memory.Announcement) error {
	batch := &pgx.Batch{}
	queueAnnouncements(batch, owner, announcements)
	return tx.SendBatch(ctx, batch).Close()
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

const announcementColumns = `xact, seq, app_id, user_id, kind, at, data`

func announcementFields(a *memory.Announcement) []any {
	return []any{&a.Place.Commit, &a.Place.Seq, &a.AppID, &a.UserID, &a.Kind, &a.At, &a.Data}
}

// Announced lists announcements after a place, in order.
func (s *Store) Announced(ctx context.Context, f db.AnnouncementFilter) ([]memory.Announcement, error) {
	var where conditions
	where.add(`app_id = ?`, f.AppID)
	if f.UserID != "" {
		where.add(`user_id = ?`, f.UserID)
	}
	where.add(`(xact, seq) > (?, ?)`, f.After.Commit, f.After.Seq)
	rows, _ := s.pool.Query(ctx, `SELECT `+announcementColumns+` FROM announcements
		WHERE `+where.sql()+` AND xact < `+settledBefore+` ORDER BY xact, seq LIMIT `+where.arg(f.Limit), where.args...)
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (a memory.Announcement, err error) {
		err = row.Scan(announcementFields(&a)...)
		return a, err
	})
	return found, fault(err, "list the announcements")
}

// AnnouncedApps tells which apps have announcements after a place.
func (s *Store) AnnouncedApps(ctx context.Context, after memory.Place, limit int) (apps []string, through memory.Place, err error) {
	through = after
	rows, _ := s.pool.Query(ctx, `
		WITH fresh AS (
			SELECT xact, seq, app_id FROM announcements WHERE (xact, seq) > ($1, $2) AND xact < `+settledBefore+`
			ORDER BY xact, seq LIMIT $3)
		SELECT DISTINCT ON (app_id) app_id, xact, seq FROM fresh ORDER BY app_id, xact DESC, seq DESC`, after.Commit, after.Seq, limit)
	var app string
	var last memory.Place
	_, err = pgx.ForEachRow(rows, []any{&app, &last.Commit, &last.Seq}, func() error {
		apps = append(apps, app)
		if last.Compare(through) > 0 {
			through = last
		}
		return nil
	})
	return apps, through, fault(err, "look for announcements")
}

// AnnouncedBounds tells up to where announcements may have been purged, and
// where later ones begin.
func (s *Store) AnnouncedBounds(ctx context.Context) (purged, head memory.Place, err error) {
	err = s.pool.QueryRow(ctx, `SELECT xact, seq, `+settledBefore+` FROM announcements_purged`).Scan(&purged.Commit, &purged.Seq, &head.Commit)
	return purged, head, fault(err, "find the announcements' bounds")
}

// PurgeAnnouncements deletes old announcements. A database that was restored
// into another server has rows and places of that one's transactions, which
// mean nothing here: the rows go, and webhooks begin with what is left.
func (s *Store) PurgeAnnouncements(ctx context.Context, before time.Time, limit int) (purged int, err error) {
	const unborn = `pg_snapshot_xmax(pg_current_snapshot())::text::bigint`
	err = again(ctx, func() error {
		batch := &pgx.Batch{} // one implicit transaction
		batch.Queue(`DELETE FROM announcements WHERE xact >= ` + unborn)
		batch.Queue(`UPDATE webhooks SET after_xact = 0, after_seq = 0 WHERE after_xact > ` + unborn)
		batch.Queue(`UPDATE announcements_purged SET xact = 0, seq = 0 WHERE xact > ` + unborn)
		batch.Queue(`
			WITH oldest AS (
				SELECT xact, seq, at FROM announcements ORDER BY xact, seq LIMIT $2
			), gone AS (
				DELETE FROM announcements a USING oldest o WHERE (a.xact, a.seq) = (o.xact, o.seq) AND o.at < $1 RETURNING a.xact, a.seq
			), last AS (
				SELECT xact, seq FROM gone ORDER BY xact DESC, seq DESC LIMIT 1
			), noted AS (
				UPDATE announcements_purged p SET xact = last.xact, seq = last.seq FROM last WHERE (last.xact, last.seq) > (p.xact, p.seq)
			)
			SELECT count(*) FROM gone`, before, limit).QueryRow(func(row pgx.Row) error { return row.Scan(&purged) })
		return s.pool.SendBatch(ctx, batch).Close()
	})
	return purged, fault(err, "purge announcements")
}
