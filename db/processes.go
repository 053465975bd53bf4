package db

import (
	"context"
	"time"
)

// Processes keeps which processes work on jobs, by the clock of the database.
type Processes interface {
	// Beat notes that a process works, and frees the jobs that processes have begun
	// which have not beaten for the time of silence: they are available again, and
	// the attempt counts. It frees none unless this process has beaten within that time,
	// since after an outage of the database the others may not have been able to.
	// It returns how many jobs it has freed. Process ids have at most 100 bytes.
	Beat(ctx context.Context, process string, silence time.Duration) (freed int, err error)
}
