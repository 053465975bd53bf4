package jobs

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
)

// A job that runs again after a delay does so wherever the machine is: TestMain sets a zone that is far from UTC.
func TestLater_RunsAgainInAnyZone(t *testing.T) {
	t.Parallel()
	for name, fresh := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := fresh(t)()
			t.Cleanup(func() { _ = r.Close() })
			if err := r.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			var runs atomic.Int32
			work := Maintenance{
				Kind: testKind, Schedule: "@every 1h",
				Work: func(context.Context, time.Time) (any, error) {
					if runs.Add(1) == 1 {
						return nil, Later(time.Second)
					}
					return nil, nil
				},
			}
			startRunner(t, r, work.Handler())
			clock := midnight
			s, err := NewScheduler(r, func() time.Time { return clock }, zap.NewNop(), work)
			if err != nil {
				t.Fatal(err)
			}
			clock = clock.Add(time.Hour)
			s.enqueue(t.Context())
			waitForJobs(t, r, "completed", 1)
			if runs.Load() != 2 {
				t.Errorf("the job ran %d times, want 2", runs.Load())
			}
		})
	}
}
