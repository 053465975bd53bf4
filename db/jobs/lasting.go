package jobs

import (
	"time"

	"github.com/riverqueue/river"
)

// Lasting is embedded by the payload of a Background job that is never given
// up: a process that dies in it costs none of three attempts.
type Lasting struct{}

const lastingAttempts = 1000

// InsertOpts keeps the job out of the turns' way, and alive.
func (Lasting) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: upkeepQueue, MaxAttempts: lastingAttempts}
}

// Later is what a handler returns whose job is to be worked again after a
// while. It counts as no failed attempt.
func Later(after time.Duration) error { return river.JobSnooze(after) }
