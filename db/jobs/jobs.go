// Package jobs runs durable jobs:
//
//	job row (db, same transaction as its cause) -> River -> handler -> result
//	cron expression -> Scheduler -> one job row per tick for all replicas
//
// Every process notes at intervals that it lives; the jobs of a process that died are begun again. A handler must be
// idempotent, since a job may run more than once. A failing job is tried three times and then stays visible with its
// error.
package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Options configure a Runner; server/config documents their defaults and ranges.
type Options struct {
	Workers int           // jobs that run at the same time
	Poll    time.Duration // between two looks for jobs that are due; new ones are announced
	Timeout time.Duration // of one job
	// Drained is closed when jobs that still run at shutdown are cancelled; nil: they have until the deadline of Stop.
	Drained <-chan struct{}
	Log     *slog.Logger

	Processes db.Processes  // frees the jobs of processes that died
	Beat      time.Duration // between two notes that the process lives; 0: 3 s
}

// fetchCooldown is the minimum time between two fetches, and so the delay of a
// newly enqueued job.
const fetchCooldown = 5 * time.Millisecond

// Handler registers the worker of one kind of job.
type Handler func(*river.Workers)

// Handle runs f for every job of A's kind.
func Handle[A river.JobArgs](f func(ctx context.Context, args A) error) Handler {
	return func(workers *river.Workers) {
		river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, job *river.Job[A]) error {
			return f(ctx, job.Args)
		}))
	}
}

// Runner runs jobs between Start and Stop.
type Runner struct {
	start, stop, cancel func(context.Context) error
	drained             <-chan struct{}
	heart               *heart
}

// New returns a runner for a database's River driver.
func New[TTx any](driver riverdriver.Driver[TTx], o Options, handlers ...Handler) (*Runner, error) {
	workers := river.NewWorkers()
	for _, register := range handlers {
		register(workers)
	}
	process := memory.NewID()
	var client *river.Client[TTx]
	client, err := river.NewClient(driver, &river.Config{
		ID: process,
		Queues: map[string]river.QueueConfig{
			river.QueueDefault: {MaxWorkers: o.Workers},
			maintenanceQueue:   {MaxWorkers: maintenanceWorkers},
			outgoingQueue:      {MaxWorkers: outgoingWorkers},
		},
		Workers:              workers,
		FetchCooldown:        min(fetchCooldown, o.Poll),
		FetchPollInterval:    o.Poll,
		JobTimeout:           o.Timeout,
		RescueStuckJobsAfter: 2 * o.Timeout,
		Logger:               o.Log,
		Middleware: []rivertype.Middleware{
			&observer{log: o.Log}, notingProgress(func() *river.Client[TTx] { return client }, o.Log),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("set up the job queue: %w", err)
	}
	return &Runner{
		start: client.Start, stop: client.Stop, cancel: client.StopAndCancel, drained: o.Drained,
		heart: &heart{processes: o.Processes, process: process, interval: cmp.Or(o.Beat, defaultBeat), log: o.Log},
	}, nil
}

// startAttempts limits how often Start retries if the database does not answer
// within the ten seconds that River waits.
const startAttempts = 6

// Start starts running jobs. It waits up to a minute for a slow database.
func (r *Runner) Start(ctx context.Context) error {
	r.heart.start(ctx)
	var err error
	for range startAttempts {
		// River aborts running jobs when its context ends; only Stop may end them.
		err = r.start(context.WithoutCancel(ctx))
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		r.heart.stop()
		return fmt.Errorf("start the job queue: %w", err)
	}
	return nil
}

// Stop stops fetching jobs and waits for the running ones, until the deadline of ctx. Jobs that run when Drained is
// closed are cancelled and run again later.
func (r *Runner) Stop(ctx context.Context) error {
	defer r.heart.stop()
	hard, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if deadline, ok := ctx.Deadline(); ok {
		hard, cancel = context.WithDeadline(hard, deadline)
	}
	defer cancel()
	soft, stopWaiting := context.WithCancel(hard)
	go func() {
		defer stopWaiting()
		select {
		case <-r.drained:
		case <-soft.Done():
		}
	}()
	err := r.stop(soft)
	stopWaiting()
	if err == nil {
		return nil
	}
	if err := r.cancel(hard); err != nil {
		return fmt.Errorf("stop the job queue: %w", err)
	}
	return nil
}

// Maintenance has its own queue, so that long runs leave every other worker to
// the turns. Its jobs may start late. The queue names are stored in job rows.
const (
	maintenanceQueue   = "upkeep"
	maintenanceWorkers = 2

	outgoingQueue   = "outgoing"
	outgoingWorkers = 8
)

// lastingAttempts is high enough that a lasting job is never discarded.
const lastingAttempts = 1000

// Background is embedded in the payload of a job that turns do not wait for.
// It runs in the maintenance queue.
type Background struct{}

// InsertOpts selects the maintenance queue.
func (Background) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: maintenanceQueue} }

// Lasting is embedded in the payload of a background job that is retried until
// it succeeds, even if the process crashes during several attempts.
type Lasting struct{}

// InsertOpts selects the maintenance queue and many attempts.
func (Lasting) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: maintenanceQueue, MaxAttempts: lastingAttempts}
}

// Outgoing is embedded in the payload of a job that calls external servers. Its
// own queue keeps slow servers from delaying other jobs; it is lasting.
type Outgoing struct{}

// InsertOpts selects the outgoing queue and many attempts.
func (Outgoing) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: outgoingQueue, MaxAttempts: lastingAttempts}
}

// Later is what a handler returns to run its job again after a delay. It does
// not count as a failed attempt.
func Later(after time.Duration) error { return river.JobSnooze(after) }
