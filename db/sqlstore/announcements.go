package sqlstore

import "hippocampus/internal/memory"

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
