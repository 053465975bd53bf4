package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// Statements of Changes.
const (
	// The planner does not see the revision, and assumes that a range of unknown bounds holds one row in 200. If it saw
	// that few documents have changed, it would plan each execution, which costs several times what reading them costs.
	// Without the upper bound it would assume a third of the rows, and keep a plan for many rows.
	changedDocuments = `SELECT ` + documentColumns + `, status = 'active', change FROM agent_memories m
		WHERE app_id = $1 AND user_id = $2 AND change > 0
		AND change > (SELECT $3::bigint) AND change < 9223372036854775807
		ORDER BY conversation_id, created_at, id`

	// ownerState is how far the owner's changes are known, whether the vector store may lack any of the owner's memories,
	// and the owner's mode. Its plan is the same for every value, so that Postgres keeps it. Planning unconfirmed each
	// time costs many times what this query costs.
	ownerState = `SELECT coalesce(r.revision, 1), coalesce(r.complete_after, 1),
		EXISTS (SELECT FROM agent_memories
			WHERE app_id = $2 AND user_id = $3 AND status = 'active' AND vector_state = 'pending')
		OR coalesce((SELECT max(vector_synced_at) FROM agent_memories
			WHERE app_id = $2 AND user_id = $3 AND status = 'active' AND vector_state = 'synced') >= $4, false),
		coalesce((SELECT mode FROM user_modes
			WHERE app_id = $2 AND user_id = $3 AND conversation_id = ''), '')
		FROM (SELECT) AS always LEFT JOIN revisions r ON r.owner_hash = $1`
)

// Changes reads the documents and the state of the owner in one round trip, and the
// unconfirmed writes, if there are any, in another.
func (s *Store) Changes(
	ctx context.Context, owner memory.Owner, after int64, since time.Time, limit int,
) (found db.Changes, err error) {
	const doing = "read the user's changes"
	var last, completeAfter int64
	var fresh bool
	var mode memory.Mode
	state := func(batch *pgx.Batch) {
		queued := batch.Queue(ownerState, rowcodec.OwnerHash(owner), owner.AppID, owner.UserID, since)
		queued.QueryRow(func(row pgx.Row) error { return row.Scan(&last, &completeAfter, &fresh, &mode) })
	}
	if after > 0 {
		found.Revision = after
		batch := &pgx.Batch{}
		batch.Queue(changedDocuments, owner.AppID, owner.UserID, after).Query(func(rows pgx.Rows) error {
			return scanChanges(rows, &found)
		})
		state(batch)
		if err := s.pool.SendBatch(ctx, batch).Close(); err != nil {
			return found, fault(err, doing)
		}
	}
	if after <= 0 || after < completeAfter || after > last {
		found = db.Changes{All: true}
		batch := &pgx.Batch{}
		batch.Queue(`SELECT coalesce(max(revision), 1) FROM revisions WHERE owner_hash = $1`, rowcodec.OwnerHash(owner)).
			QueryRow(func(row pgx.Row) error { return row.Scan(&found.Revision) })
		batch.Queue(documents, owner.AppID, owner.UserID).Query(func(rows pgx.Rows) (err error) {
			found.Documents, err = pgx.CollectRows(rows, scanDocument)
			return err
		})
		state(batch)
		if err := s.pool.SendBatch(ctx, batch).Close(); err != nil {
			return found, fault(err, doing)
		}
	}
	found.Mode = memory.ModeAt(memory.LevelUser, mode)
	if fresh {
		found.Unconfirmed, err = s.Unconfirmed(ctx, owner, since, limit)
	}
	return found, err
}

// scanChanges adds changed documents. The revision is the latest change that they show.
func scanChanges(rows pgx.Rows, found *db.Changes) error {
	for rows.Next() {
		var d db.Document
		var active bool
		var change int64
		if err := rows.Scan(append(documentFields(&d), &active, &change)...); err != nil {
			return err
		}
		found.Revision = max(found.Revision, change)
		if active {
			found.Documents = append(found.Documents, tidy(d))
		} else {
			found.Gone = append(found.Gone, d.ID)
		}
	}
	return rows.Err()
}
