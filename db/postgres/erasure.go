package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// The locks between the mark of an erasure and writers. A mark excludes the
// user's transactions, and it excludes the acceptance of turns, which may run
// many at a time.
const (
	lockAlone  = `SELECT pg_advisory_xact_lock($1)`
	lockShared = `SELECT pg_advisory_xact_lock_shared($1)`
)

// isErasing asks whether an owner is being erased. The owner's hash and a closing
// parenthesis must follow.
const isErasing = `EXISTS (SELECT 1 FROM erasures WHERE state = 'erasing' AND owner_hash = `

// admit takes a lock until the transaction ends, and returns db.ErrErasing if the
// owner is being erased. It waits for a mark that is being made, and a later mark
// waits for this transaction.
func admit(ctx context.Context, tx pgx.Tx, lock string, key int64, owner memory.Owner) error {
	batch := &pgx.Batch{}
	erasing := admission(batch, lock, key, owner)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	if *erasing {
		return db.ErrErasing
	}
	return nil
}

// admission queues a lock and a query whether the owner is being erased. They are
// two statements so that the query sees what the lock has waited for.
func admission(batch *pgx.Batch, lock string, key int64, owner memory.Owner) (erasing *bool) {
	erasing = new(bool)
	batch.Queue(lock, key)
	batch.Queue(`SELECT `+isErasing+`$1)`, rowcodec.OwnerHash(owner)).
		QueryRow(func(row pgx.Row) error { return row.Scan(erasing) })
	return erasing
}

// BeginErasure is the shared BeginErasure within the owner's lock of this process.
func (s *Store) BeginErasure(
	ctx context.Context, owner memory.Owner, at, due time.Time, job db.Job,
) (e db.Erasure, err error) {
	release, err := s.ownerLocks.acquire(ctx, owner)
	if err != nil {
		return e, fault(err, "wait for the user's writes")
	}
	defer release()
	return s.Store.BeginErasure(ctx, owner, at, due, job)
}
