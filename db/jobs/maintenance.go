package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"
)

// Work is what a handler does with a job. What it returns is recorded as the
// job's result, beside an error too; nil is none. Results are made of what
// encoding/json writes.
type Work[A any] func(ctx context.Context, args A) (result any, err error)

// HandleResult works jobs of A's kind and records their results. The timeout
// bounds one attempt; 0: as Options say.
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
	if recording := river.RecordOutput(ctx, result); recording != nil && err == nil {
		return fmt.Errorf("record the result: %w", recording)
	}
	return err
}

// Maintenance is work that a schedule asks for.
type Maintenance struct {
	Kind     string        // of its jobs
	Schedule string        // a cron expression, see Scheduler; empty: off
	Timeout  time.Duration // of one attempt; 0: as Options say
	Work     Work[time.Time]
}

// Handler works the jobs that the schedule has enqueued, here or in another
// process; Work is given the instant of their tick.
func (u Maintenance) Handler() Handler {
	return func(workers *river.Workers) {
		// The kind is a value's, not a type's: hence the form with arguments.
		river.AddWorkerArgs(workers, tick{kind: u.Kind}, &worker[tick]{
			timeout: u.Timeout,
			work:    func(ctx context.Context, t tick) (any, error) { return u.Work(ctx, t.At) },
		})
	}
}

// tick is the job of one instant of a schedule.
type tick struct {
	kind string
	At   time.Time `json:"at"`
}

func (t tick) Kind() string { return t.kind }

// InsertOpts keeps upkeep out of the turns' way.
func (tick) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: upkeepQueue} }

// Upkeep has a queue of its own, so that long runs leave every worker to the
// turns. It may start late.
const (
	upkeepQueue   = "upkeep"
	upkeepWorkers = 2
	upkeepPoll    = 200 * time.Millisecond
)
