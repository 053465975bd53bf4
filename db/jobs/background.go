package jobs

import "github.com/riverqueue/river"

// Background is embedded by the payload of a job that turns need not wait for:
// it is worked in the queue of upkeep.
type Background struct{}

// InsertOpts keeps the job out of the turns' way.
func (Background) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: upkeepQueue} }
