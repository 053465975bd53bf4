package postgres

import (
	"context"
	"time"

	"hippocampus/db"
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
