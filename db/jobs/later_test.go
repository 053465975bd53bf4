package jobs

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

// A job that has failed, or waits, runs again when its delay is over, wherever the machine is: TestMain sets a zone far
// from UTC.
func TestLater_RunsAgainInAnyZone(t *testing.T) {
	t.Parallel()
	for name, fresh := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := migrated(t, fresh)
			var runs atomic.Int32
			work := Maintenance{Kind: testKind, Work: func(context.Context, time.Time) (any, error) {
				switch runs.Add(1) {
				case 1:
					return nil, errors.New("the first run fails")
				case 2:
					return nil, Later(time.Second)
				}
				return nil, nil
			}}
			startRunner(t, r, work.Handler())
			if _, err := EnqueueAt(t.Context(), r, testKind, midnight); err != nil {
				t.Fatal(err)
			}
			waitForJobs(t, r, "completed", 1)
			if runs.Load() != 3 {
				t.Errorf("the job ran %d times, want 3", runs.Load())
			}
		})
	}
}
