package db

import (
	"context"
	"time"
)

// MaxLease is longer than any lease or wait for a retry that the settings allow.
const MaxLease = 2 * time.Hour

// Leases repairs what a clock that was ahead has left.
type Leases interface {
	// VoidLeases ends claims that last longer than MaxLease from now, of pushes,
	// consolidations and re-embedding, and makes turns, pushes and jobs due that are due
	// later than that. It returns how many rows it has changed. Jobs are judged by the
	// clock of the database, by which they are enqueued.
	VoidLeases(ctx context.Context, now time.Time) (int, error)
}
