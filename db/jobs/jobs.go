// Package jobs works on durable jobs:
//
//	job row (db, one transaction with its cause) -> River -> handler -> result
//	cron expression -> Scheduler -> one job row a tick, however many replicas
//
// A handler may run more than once for the same job, and must bear it: one
// that fails is tried three times, and then stays visible with its error.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
)

// Options of a Runner; server/config states their defaults and ranges.
type Options struct {
	Workers int           // jobs worked on at once
	Poll    time.Duration // between looks for jobs; Postgres tells of new ones by itself
	Timeout time.Duration // of one job
	Drain   time.Duration // how long running jobs may take to end at shutdown
	Log     *slog.Logger
}

// fetchCooldown is the least time between two fetches: how long a job that was
// just enqueued waits for the next one.
const fetchCooldown = 5 * time.Millisecond

// Handler registers how the jobs of one kind are worked.
type Handler func(*river.Workers)

// Handle works jobs of A's kind with f.
func Handle[A river.JobArgs](f func(ctx context.Context, args A) error) Handler {
	return func(workers *river.Workers) {
		river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, job *river.Job[A]) error {
			return f(ctx, job.Args)
		}))
	}
}

// Runner works on jobs while it runs.
type Runner struct {
	start, stop, cancel func(context.Context) error
	drain               time.Duration
}

// New makes a runner over a database's River driver.
func New[TTx any](driver riverdriver.Driver[TTx], o Options, handlers ...Handler) (*Runner, error) {
	workers := river.NewWorkers()
	for _, register := range handlers {
		register(workers)
	}
	client, err := river.NewClient(driver, &river.Config{
		Queues: map[string]river.QueueConfig{
			river.QueueDefault: {MaxWorkers: o.Workers},
			upkeepQueue:        {MaxWorkers: upkeepWorkers, FetchPollInterval: max(upkeepPoll, o.Poll)},
			outgoingQueue:      {MaxWorkers: outgoingWorkers, FetchPollInterval: max(upkeepPoll, o.Poll)},
		},
		Workers:              workers,
		FetchCooldown:        min(fetchCooldown, o.Poll),
		FetchPollInterval:    o.Poll,
		JobTimeout:           o.Timeout,
		RescueStuckJobsAfter: 2 * o.Timeout,
		Logger:               o.Log,
	})
	if err != nil {
		return nil, fmt.Errorf("set up the job queue: %w", err)
	}
	return &Runner{client.Start, client.Stop, client.StopAndCancel, o.Drain}, nil
}

// startAttempts is how often River is started on a database that does not
// answer within the ten seconds that it waits.
const startAttempts = 6

// Start begins to work on jobs. A database that is slow is given a minute.
func (r *Runner) Start(ctx context.Context) error {
	var err error
	for range startAttempts {
		// River ends abruptly with its context: Stop decides when instead.
		err = r.start(context.WithoutCancel(ctx))
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("start the job queue: %w", err)
	}
	return nil
}

// Stop fetches no more jobs and lets the running ones end; those that take too
// long are cancelled and worked again later.
func (r *Runner) Stop(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	soft, cancel := context.WithTimeout(ctx, r.drain)
	defer cancel()
	if r.stop(soft) == nil {
		return nil
	}
	hard, cancel := context.WithTimeout(ctx, r.drain)
	defer cancel()
	if err := r.cancel(hard); err != nil {
		return fmt.Errorf("stop the job queue: %w", err)
	}
	return nil
}
