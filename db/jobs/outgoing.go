package jobs

import "github.com/riverqueue/river"

// Outgoing is embedded by the payload of a job that waits for strangers: it is
// worked in a queue of its own, so that slow ones hold up nobody else, and is
// never given up, as Lasting ones are not.
type Outgoing struct{}

const (
	outgoingQueue   = "outgoing"
	outgoingWorkers = 8
)

// InsertOpts keeps the job out of everybody's way, and alive.
func (Outgoing) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: outgoingQueue, MaxAttempts: lastingAttempts}
}
