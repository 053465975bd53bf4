package measure

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"
)

// The machine rests if its cores are idle for this share of an observation.
const (
	idle     = 0.8
	look     = 30 * time.Second // longer than recall.own_window; Milvus checks for segments to merge about once a minute
	restless = 10 * time.Minute // the longest wait, unless options bound it
)

// Rest waits until the machine is idle, for at least one observation, and returns how long
// that took. After a load the stores work for minutes: Milvus merges and sorts segments,
// Postgres vacuums, and recall compares the newest writes in the database. The measurement
// should not include this work. Rest gives up after the longest wait, without an error.
func Rest(ctx context.Context, longest time.Duration, progress io.Writer) (time.Duration, error) {
	begin := time.Now()
	longest = cmp.Or(longest, restless)
	for {
		before, err := Idle()
		if err != nil {
			return 0, err
		}
		from := time.Now()
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(min(look, longest)):
		}
		after, err := Idle()
		if err != nil {
			return 0, err
		}
		took := time.Since(begin)
		share := (after - before).Seconds() / time.Since(from).Seconds() / float64(runtime.NumCPU())
		switch {
		case share >= idle:
			return took, nil
		case took >= longest:
			_, err := fmt.Fprintf(progress, "the machine does not come to rest: measured while %.0f %% of it is busy\n",
				100*(1-share))
			return took, err
		}
	}
}

// Idle is the total time that the machine's cores have been idle so far. Waiting for a
// disk does not count as idle.
func Idle() (time.Duration, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, fmt.Errorf("this system does not tell the machine's times: %w", err)
	}
	var user, nice, system, idle int64
	if _, err := fmt.Sscanf(string(text), "cpu %d %d %d %d", &user, &nice, &system, &idle); err != nil {
		return 0, fmt.Errorf("read the machine's times: %w", err)
	}
	return time.Duration(idle) * Tick, nil
}
