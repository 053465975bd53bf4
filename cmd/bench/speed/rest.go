package speed

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"hippocampus/cmd/bench/target"
)

// The machine rests if its cores are idle for this share of an observation.
const (
	idle     = 0.8
	look     = 30 * time.Second // longer than recall.own_window; Milvus checks for segments to merge about once a minute
	restless = 10 * time.Minute // the longest wait, unless options bound it
)

// rest waits until the machine is idle, for at least one observation, and returns how
// long that took. After a load the stores work for minutes: Milvus merges and sorts
// segments, Postgres vacuums, and recall compares the newest writes in the database.
// The measurement should not include that. After the longest wait it begins anyway.
func (b *bench) rest(ctx context.Context) (time.Duration, error) {
	begin := time.Now()
	longest := cmp.Or(b.Rest, restless)
	for {
		before, err := target.Idle()
		if err != nil {
			return 0, err
		}
		from := time.Now()
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(min(look, longest)):
		}
		after, err := target.Idle()
		if err != nil {
			return 0, err
		}
		took := time.Since(begin)
		share := (after - before).Seconds() / time.Since(from).Seconds() / float64(machine().Cores)
		switch {
		case share >= idle:
			return took, nil
		case took >= longest:
			_, err := fmt.Fprintf(b.Progress, "the machine does not come to rest: measured while %.0f %% of it is busy\n",
				100*(1-share))
			return took, err
		}
	}
}
