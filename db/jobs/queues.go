package jobs

import (
	"time"

	"github.com/riverqueue/river"
)

// Maintenance has its own queue, so that long runs leave every other worker to
// the turns. Its jobs may start late. The queue names are stored in job rows.
const (
	maintenanceQueue   = "upkeep"
	maintenanceWorkers = 2
	maintenancePoll    = 200 * time.Millisecond

	outgoingQueue   = "outgoing"
	outgoingWorkers = 8
)

// lastingAttempts is high enough that a lasting job is never discarded.
const lastingAttempts = 1000

// Background is embedded in the payload of a job that turns do not wait for.
// It runs in the maintenance queue.
type Background struct{}

// InsertOpts selects the maintenance queue.
func (Background) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: maintenanceQueue} }

// Lasting is embedded in the payload of a background job that is retried until
// it succeeds, even if the process crashes during several attempts.
type Lasting struct{}

// InsertOpts selects the maintenance queue and many attempts.
func (Lasting) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: maintenanceQueue, MaxAttempts: lastingAttempts}
}

// Outgoing is embedded in the payload of a job that calls external servers. Its
// own queue keeps slow servers from delaying other jobs; it is lasting.
type Outgoing struct{}

// InsertOpts selects the outgoing queue and many attempts.
func (Outgoing) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: outgoingQueue, MaxAttempts: lastingAttempts}
}

// Later is what a handler returns to run its job again after a delay. It does
// not count as a failed attempt.
func Later(after time.Duration) error { return river.JobSnooze(after) }
