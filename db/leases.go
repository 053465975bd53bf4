package db

import (
	"context"
	"time"
)

// MaxSkew is how far apart the clocks of servers may be.
const MaxSkew = time.Minute

// Longest is how long a claim of each kind lasts at most, or a wait for the next attempt.
type Longest struct {
	Turn          time.Duration
	Push          time.Duration
	Consolidation time.Duration
	Reembedding   time.Duration
}

// Leases repairs what a clock that was ahead has left.
type Leases interface {
	// VoidLeases ends claims of pushes, consolidations and re-embedding that end later than
	// the longest of their kind would from now, plus MaxSkew, and makes turns and pushes due
	// that are due later than that, and jobs that were enqueued later than MaxSkew from now. It
	// returns how many rows it has changed. Jobs are judged by the clock of the database, by
	// which they are enqueued.
	VoidLeases(ctx context.Context, now time.Time, longest Longest) (int, error)
}
