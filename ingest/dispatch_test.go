package ingest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"hippocampus/db"
)

// enqueuing is a database whose EnqueueTurns can be held up.
type enqueuing struct {
	Records
	call func(turnIDs []string) error
}

func (e *enqueuing) EnqueueTurns(ctx context.Context, turnIDs []string, due time.Time, job func(string) db.Job) (int, error) {
	if err := e.call(turnIDs); err != nil {
		return 0, err
	}
	return e.Records.EnqueueTurns(ctx, turnIDs, due, job)
}

// A turn is accepted without waiting for the job queue, which gets the turns of
// a crowd together; those that it did not get are overdue after a lease.
func TestAcceptedTurnsAreEnqueuedTogether(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	entered, release := make(chan struct{}), make(chan struct{})
	var sizes []int
	b.Records = &enqueuing{b.Records, func(turnIDs []string) error {
		if sizes = append(sizes, len(turnIDs)); len(sizes) == 1 {
			close(entered)
			<-release
		}
		if len(turnIDs) == 1 && len(sizes) > 1 {
			return errNotNow
		}
		return nil
	}}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); b.Dispatch(ctx) }()
	b.accept("first")
	<-entered
	for range 3 {
		b.accept("of a crowd")
	}
	end() // which waits for those that are accepted
	close(release)
	<-ended
	b.accept("late")
	b.Dispatch(ctx)
	if want := []int{1, 3, 1}; !slices.Equal(sizes, want) {
		t.Errorf("enqueued %v, want %v", sizes, want)
	}
	b.clock.Advance(b.set.Lease + time.Second)
	n, err := b.store.ResumeTurns(t.Context(), b.clock.Now(), b.clock.Now().Add(time.Hour), 10, processTurn)
	if err != nil || n != 1 {
		t.Errorf("%d turns are overdue after a lease, want the one that could not be enqueued: %v", n, err)
	}
}

var errNotNow = errors.New("not now")
