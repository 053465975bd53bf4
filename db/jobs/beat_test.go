package jobs

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"hippocampus/db"
)

// pulse counts the beats of a process, which end when it is killed.
type pulse struct {
	db.Processes
	killed atomic.Bool
	beats  chan struct{}
}

func (p *pulse) Beat(ctx context.Context, process string, silence time.Duration) (int, error) {
	if p.killed.Load() {
		return 0, nil
	}
	freed, err := p.Processes.Beat(ctx, process, silence)
	select {
	case p.beats <- struct{}{}:
	default:
	}
	return freed, err
}

// The job of a process that died is begun again within seconds, in spite of its timeout of an hour,
// and the job of a living process goes on.
func TestRunner_BeginsTheJobsOfDeadProcessesAgain(t *testing.T) {
	t.Parallel()
	for name, fresh := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := fresh(t)
			first, second := open(), open()
			t.Cleanup(func() { _, _ = first.Close(), second.Close() })
			if err := first.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			var begun atomic.Int32
			begins, end := make(chan struct{}, 10), make(chan struct{})
			work := Maintenance{Kind: testKind, Timeout: time.Hour, Work: func(context.Context, time.Time) (any, error) {
				begins <- struct{}{}
				if begun.Add(1) == 1 {
					<-end
				}
				return nil, nil
			}}
			dying := &pulse{Processes: first}
			living := &pulse{Processes: second, beats: make(chan struct{})}
			run := func(r replica, processes db.Processes) {
				o := options
				o.Processes, o.Beat = processes, time.Second // a busy machine delays one for longer than a second
				runner, err := r.withOptions(o, work.Handler())
				if err != nil {
					t.Fatal(err)
				}
				if err := runner.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = runner.Stop(context.Background()) })
			}
			run(first, dying)
			if _, err := EnqueueAt(t.Context(), first, testKind, midnight); err != nil {
				t.Fatal(err)
			}
			<-begins
			run(second, living)
			t.Cleanup(func() { close(end) }) // before the runners stop
			for range 2 * beatsOfSilence {
				<-living.beats
			}
			if begun.Load() != 1 {
				t.Error("the job of a living process was begun again")
			}
			dying.killed.Store(true)
			<-begins
			waitForJobs(t, second, "completed", 1)
		})
	}
}
