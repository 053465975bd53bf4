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

// Leases repairs the rows with late times that a clock which was ahead has left.
type Leases interface {
	// VoidLeases ends claims of pushes, consolidations and re-embedding whose end is more than the longest of their kind
	// plus MaxSkew after now. It makes turns and pushes due that are due later than that, and jobs that were enqueued more
	// than MaxSkew after now. It returns how many rows it has changed. Jobs are judged by the clock of the database, by
	// which they are enqueued.
	VoidLeases(ctx context.Context, now time.Time, longest Longest) (int, error)
}
