package jobs

import (
	"context"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

type (
	turnJob   struct{ N int }
	upkeepJob struct {
		Background
		N int
	}
	outgoingJob struct {
		Outgoing
		N int
	}
)

func (turnJob) Kind() string     { return "turn" }
func (upkeepJob) Kind() string   { return "upkeep" }
func (outgoingJob) Kind() string { return "outgoing" }

// A job of each queue begins as soon as it is committed, although the runner looks for jobs once an hour.
func TestRunner_BeginsAJobWhenItIsCommitted(t *testing.T) {
	t.Parallel()
	for name, fresh := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			r := migrated(t, fresh)
			begun := make(chan db.Job)
			seldom := optionsOf(r)
			seldom.Poll = time.Hour
			runner, err := r.withOptions(seldom,
				Handle(sending[turnJob](begun)), Handle(sending[upkeepJob](begun)), Handle(sending[outgoingJob](begun)))
			if err != nil {
				t.Fatal(err)
			}
			if err := runner.Start(ctx); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = runner.Stop(context.Background()) })
			began := func(want db.Job) {
				t.Helper()
				select {
				case job := <-begun:
					if job != want {
						t.Errorf("%#v begins, want %#v", job, want)
					}
				case <-ctx.Done():
					t.Fatalf("%#v does not begin", want)
				}
			}
			for n := range 2 { // the runner could find the first ones when it starts
				for _, job := range []db.Job{turnJob{N: n}, upkeepJob{N: n}, outgoingJob{N: n}} {
					if _, _, err := r.Enqueue(ctx, job); err != nil {
						t.Fatal(err)
					}
					began(job)
				}
				for _, job := range []db.Job{turnJob{N: 2 + n}, upkeepJob{N: 2 + n}, outgoingJob{N: 2 + n}} {
					err := r.InUser(ctx, memory.Owner{AppID: "app", UserID: "ada"},
						func(ctx context.Context, tx db.UserTx) error { return tx.Enqueue(ctx, job) })
					if err != nil {
						t.Fatal(err)
					}
					began(job)
				}
			}
		})
	}
}

// sending returns a handler's function that sends its jobs.
func sending[J db.Job](begun chan<- db.Job) func(context.Context, J) error {
	return func(ctx context.Context, job J) error {
		select {
		case begun <- job:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
