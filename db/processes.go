package db

import (
	"context"
	"time"
)

// Processes keeps which processes work on jobs, by the clock of the database.
type Processes interface {
	// Beat notes that a process works. It frees the jobs of processes that have not beaten for the time of silence: these
	// jobs are available again, and their attempts count. It frees no job unless this process has beaten within that time,
	// since an outage of the database may have kept the others from beating. It returns how many jobs it has freed.
	// Process ids have at most 100 bytes.
	Beat(ctx context.Context, process string, silence time.Duration) (freed int, err error)
}
