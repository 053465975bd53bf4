package jobs

import (
	"context"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"golang.org/x/time/rate"
)

// progressInterval is the least time between two records of a job's progress.
const progressInterval = time.Second

type progressKey struct{}

// OnProgress returns a context in which NoteProgress calls a function: outside a job, such as in a command.
func OnProgress(ctx context.Context, f func(progress any)) context.Context {
	return context.WithValue(ctx, progressKey{}, func(_ context.Context, progress any) { f(progress) })
}

// NoteProgress records how far the running job of a context has come, as the job's result until it ends. It writes at
// most once a second, and nothing outside a job or a context of OnProgress. A failure to write is logged: the job goes
// on.
func NoteProgress(ctx context.Context, progress any) {
	if note, ok := ctx.Value(progressKey{}).(func(ctx context.Context, progress any)); ok {
		note(ctx, progress)
	}
}

// notingProgress makes NoteProgress write the results of the jobs that a client works on.
func notingProgress[TTx any](client func() *river.Client[TTx], log *slog.Logger) rivertype.Middleware {
	return river.WorkerMiddlewareFunc(
		func(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) error {
			often := rate.Sometimes{First: 1, Interval: progressInterval}
			note := func(ctx context.Context, progress any) {
				often.Do(func() {
					_, err := client().JobUpdate(ctx, job.ID, &river.JobUpdateParams{Output: progress})
					if err != nil && ctx.Err() == nil {
						log.WarnContext(ctx, "could not record the progress of a job", "job", job.ID, "error", err)
					}
				})
			}
			return work(context.WithValue(ctx, progressKey{}, note))
		})
}
