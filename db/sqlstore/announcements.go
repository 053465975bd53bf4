package sqlstore

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// settledBefore is, on Postgres, the oldest transaction that has not ended.
// Transactions get their numbers in order, so that all older ones have ended, and
// what commits from now on has this number or a greater one: no more rows will
// appear below it. The sequence alone does not show this, since rows take their
// numbers before they commit.
const settledBefore = `pg_snapshot_xmin(pg_current_snapshot())::text::bigint`

// settled restricts a query to announcements before which no other one can appear.
const settled = `{ AND xact < ` + settledBefore + `|}`

// lastNumber is, on SQLite, the greatest number that an announcement has ever
// had; 0 before the first one.
const lastNumber = `coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'announcements'), 0)`

const announcementColumns = `{xact|0}, seq, app_id, user_id, kind, at, data`

func announcementFields(a *memory.Announcement) []any {
	return []any{&a.Place.Commit, &a.Place.Seq, &a.AppID, &a.UserID, &a.Kind, &a.At, &a.Data}
}

func (s *Store) Announced(ctx context.Context, f db.AnnouncementFilter) ([]memory.Announcement, error) {
	query := `SELECT ` + announcementColumns + ` FROM announcements
		WHERE app_id = $1 AND {(xact, seq) > ($2, $3)|seq > $3}` + settled
	args := []any{f.AppID, f.After.Commit, f.After.Seq, f.Limit}
	if f.UserID != "" {
		query, args = query+` AND user_id = $5`, append(args, f.UserID)
	}
	found, err := collect(ctx, s.conn, announcementFields, query+` ORDER BY {xact, |}seq LIMIT $4`, args...)
	return found, s.fault(err, "list the announcements")
}

func (s *Store) AnnouncedApps(
	ctx context.Context, after memory.Place, limit int,
) (apps []string, through memory.Place, err error) {
	through = after
	var app string
	var last memory.Place
	err = s.each(ctx, []any{&app, &last.Commit, &last.Seq}, func() error {
		apps = append(apps, app)
		if last.Compare(through) > 0 {
			through = last
		}
		return nil
	}, `
		WITH fresh AS (
			SELECT {xact, |}seq, app_id FROM announcements WHERE {(xact, seq) > ($1, $2)|seq > $2}`+settled+`
			ORDER BY {xact, |}seq LIMIT $3)
		SELECT {DISTINCT ON (app_id) app_id, xact, seq FROM fresh ORDER BY app_id, xact DESC, seq DESC
			|app_id, 0, max(seq) FROM fresh GROUP BY app_id}`, after.Commit, after.Seq, limit)
	return apps, through, s.fault(err, "look for announcements")
}

func (s *Store) AnnouncedBounds(ctx context.Context) (purged, head memory.Place, err error) {
	_, _, err = first(ctx, s.conn, func(*struct{}) []any {
		return []any{&purged.Commit, &purged.Seq, &head.Commit, &head.Seq}
	}, `SELECT {xact|0}, seq, {`+settledBefore+`, 0|0, `+lastNumber+`} FROM announcements_purged`)
	return purged, head, s.fault(err, "find the announcements' bounds")
}

// PurgeAnnouncements deletes old announcements. A Postgres database that was
// restored into another server has rows and places with the transaction numbers
// of the other server, which mean nothing here: the rows are deleted, and
// webhooks begin with what is left.
func (s *Store) PurgeAnnouncements(ctx context.Context, before time.Time, limit int) (purged int, err error) {
	const future = `pg_snapshot_xmax(pg_current_snapshot())::text::bigint`
	err = s.transact(ctx, func(tx tx) error {
		purged = 0
		if s.dialect == Postgres {
			for _, statement := range []string{
				`DELETE FROM announcements WHERE xact >= ` + future,
				`UPDATE webhooks SET after_xact = 0, after_seq = 0 WHERE after_xact > ` + future,
				`UPDATE announcements_purged SET xact = 0, seq = 0 WHERE xact > ` + future,
			} {
				if _, err := tx.exec(ctx, statement); err != nil {
					return err
				}
			}
		}
		var gone, last memory.Place
		err := tx.each(ctx, []any{&gone.Commit, &gone.Seq}, func() error {
			purged++
			if gone.Compare(last) > 0 {
				last = gone
			}
			return nil
		}, `DELETE FROM announcements WHERE at < $1 AND ({xact, |}seq) IN (
			SELECT {xact, |}seq FROM announcements{| WHERE seq > 0} ORDER BY {xact, |}seq LIMIT $2) RETURNING {xact|0}, seq`,
			before, limit)
		if err != nil || purged == 0 {
			return err
		}
		_, err = tx.exec(ctx,
			`UPDATE announcements_purged SET {xact = $1, |}seq = $2 WHERE {(xact, seq) < ($1, $2)|seq < $2}`,
			last.Commit, last.Seq)
		return err
	})
	return purged, s.fault(err, "purge announcements")
}

// announce makes announcements of an owner within a transaction.
func (c conn) announce(ctx context.Context, owner memory.Owner, announcements ...memory.Announcement) error {
	rows := make([][]any, len(announcements))
	for i, a := range announcements {
		rows[i] = []any{owner.AppID, owner.UserID, a.Kind, a.At, a.Data}
	}
	_, err := c.execAll(ctx,
		`INSERT INTO announcements (app_id, user_id, kind, at, data) VALUES ($1, $2, $3, $4, $5)`, rows)
	return err
}
