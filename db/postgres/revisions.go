package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// Glance reads the owner's revision and newest writes in one round trip.
func (s *Store) Glance(ctx context.Context, owner memory.Owner, since time.Time, limit int) (revision int64, own []memory.Memory, err error) {
	batch := &pgx.Batch{}
	batch.Queue(`SELECT revision FROM revisions WHERE owner_hash = $1`, rowcodec.OwnerHash(owner)).QueryRow(func(row pgx.Row) error {
		if err := row.Scan(&revision); !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		return nil
	})
	batch.Queue(unconfirmed, owner.AppID, owner.UserID, since, limit).Query(func(rows pgx.Rows) (err error) {
		own, err = pgx.CollectRows(rows, scanMemory)
		return err
	})
	err = s.pool.SendBatch(ctx, batch).Close()
	return revision, own, fault(err, "read the user's newest writes")
}

// revise gives the owner's memories a new revision.
const revise = `INSERT INTO revisions (owner_hash, revision) VALUES ($1, $2)
	ON CONFLICT (owner_hash) DO UPDATE SET revision = excluded.revision`
