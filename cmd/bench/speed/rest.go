package speed

import (
	"context"
	"fmt"
	"time"

	"hippocampus/cmd/bench/target"
)

// When the machine rests: its cores are idle for this share of a look.
const (
	idle     = 0.8
	look     = 30 * time.Second // longer than recall.own_window; Milvus looks for segments to merge once a minute or so
	restless = 10 * time.Minute // is not waited for any longer
)

// rest waits until the machine has nothing to do, and for a look at least.
// After a load the stores go on for minutes: Milvus merges and sorts what it
// was given, Postgres vacuums; and the newest writes are compared in the
// database until their searches are sure to show them. What is measured is what users meet afterwards.
// It returns how long it took; a machine that never rests is measured as it is.
func (b *bench) rest(ctx context.Context) (time.Duration, error) {
	begin := time.Now()
	for {
		before, err := target.Idle()
		if err != nil {
			return 0, err
		}
		from := time.Now()
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(look):
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
		case took > restless:
			_, err := fmt.Fprintf(b.Progress, "the machine does not come to rest: measured while %.0f %% of it is busy\n", 100*(1-share))
			return took, err
		}
	}
}
