package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"hippocampus/db"
)

// Work is the function that runs a job. A non-nil result is recorded as JSON on
// the job, even if there is an error.
type Work[A any] func(ctx context.Context, args A) (result any, err error)

// HandleResult runs jobs of A's kind and records their results. The timeout
// limits one attempt; 0 means Options.Timeout.
func HandleResult[A river.JobArgs](timeout time.Duration, work Work[A]) Handler {
	return func(workers *river.Workers) {
		river.AddWorker(workers, &worker[A]{timeout: timeout, work: work})
	}
}

type worker[A river.JobArgs] struct {
	river.WorkerDefaults[A]
	timeout time.Duration
	work    Work[A]
}

func (w *worker[A]) Timeout(*river.Job[A]) time.Duration { return w.timeout }

func (w *worker[A]) Work(ctx context.Context, job *river.Job[A]) error {
	result, err := w.work(ctx, job.Args)
	if result == nil {
		return err
	}
	if recordErr := river.RecordOutput(ctx, result); recordErr != nil && err == nil {
		return fmt.Errorf("record the result: %w", recordErr)
	}
	return err
}

// Maintenance is scheduled work.
type Maintenance struct {
	Kind     string        // kind of its jobs
	Schedule string        // cron expression, see Scheduler; empty means off
	Timeout  time.Duration // of one attempt; 0 means Options.Timeout
	Work     Work[time.Time]
}

// Handler runs the jobs that the Scheduler of any replica has enqueued. Work
// gets the instant of the tick.
func (m Maintenance) Handler() Handler {
	return func(workers *river.Workers) {
		// AddWorkerArgs takes the kind from the value; AddWorker would take it from the type.
		river.AddWorkerArgs(workers, tick{kind: m.Kind}, &worker[tick]{
			timeout: m.Timeout,
			work:    func(ctx context.Context, t tick) (any, error) { return m.Work(ctx, t.At) },
		})
	}
}

// tick is the job for one instant of a schedule.
type tick struct {
	kind string
	At   time.Time `json:"at"`
}

func (t tick) Kind() string { return t.kind }

// InsertOpts selects the maintenance queue.
func (tick) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: maintenanceQueue} }

// EnqueueAt enqueues a maintenance job outside its schedule. A second call for
// the same kind and instant returns the existing job.
func EnqueueAt(ctx context.Context, queue Enqueuer, kind string, at time.Time) (db.JobInfo, error) {
	info, _, err := queue.Enqueue(ctx, tick{kind: kind, At: at})
	return info, err
}

// RequestAt is EnqueueAt for callers who need to know whether the job is a new one: one that exists may be done.
func RequestAt(ctx context.Context, queue Enqueuer, kind string, at time.Time) (fresh bool, err error) {
	_, fresh, err = queue.Enqueue(ctx, tick{kind: kind, At: at})
	return fresh, err
}
