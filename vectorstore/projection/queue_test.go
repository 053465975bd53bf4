package projection

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"time"
	"weak"

	"hippocampus/db"
)

// running is a projection whose first push waits.
type running struct {
	*bench
	entered chan struct{} // closed when the first push is under way
	release chan error    // takes what becomes of it
	end     context.CancelFunc
	ended   chan struct{}
}

func run(t *testing.T) *running {
	r := &running{bench: newBench(t), entered: make(chan struct{}), release: make(chan error, 1), ended: make(chan struct{})}
	r.Projection.set.Interval = time.Hour // the reconciler does nothing
	first := true
	r.vectors.set(func(string, []string) error {
		if !first {
			return nil
		}
		first = false
		close(r.entered)
		return <-r.release
	})
	ctx, end := context.WithCancel(t.Context())
	r.end = end
	r.queued.set(true) // as Run does, which may come later
	go func() { defer close(r.ended); r.Run(ctx) }()
	return r
}

// Writers do not wait; what comes during a push goes together, new before
// changed, and the end waits for all of it.
func TestQueuedPushesGoTogether(t *testing.T) {
	t.Parallel()
	r := run(t)
	first := r.insert(1)
	r.PushNew(t.Context(), first)
	<-r.entered
	r.PushNew(t.Context(), r.insert(2))
	changed := first[0]
	changed.Content = "changed"
	r.update(changed)
	r.Push(t.Context(), []string{changed.ID})
	r.PushNew(t.Context(), r.insert(3))
	r.end()
	r.release <- nil
	<-r.ended
	if want := []string{"insert 1", "insert 5", "replace 1"}; !slices.Equal(r.vectors.said, want) {
		t.Errorf("calls %v, want %v", r.vectors.said, want)
	}
	if got := r.stored(); len(got) != 6 || !slices.Contains(got, "changed") || r.backlog() != (db.Backlog{}) {
		t.Errorf("stored %v, backlog %+v", got, r.backlog())
	}
	r.PushNew(t.Context(), r.insert(1)) // nobody takes from the queue: the caller pushes
	if r.backlog() != (db.Backlog{}) || len(r.stored()) != 7 {
		t.Errorf("stored %v, backlog %+v", r.stored(), r.backlog())
	}
}

// At the end a store that is away is not waited for again and again, and what
// waited so long that its claim may end is not pushed: the reconciler has both.
func TestQueuedPushesAreLeftToTheReconciler(t *testing.T) {
	t.Parallel()
	for name, hinder := range map[string]func(r *running) error{
		"away": func(r *running) error { r.end(); return away },
		"late": func(r *running) error { r.clock.Advance(16 * time.Second); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t)
			r.PushNew(t.Context(), r.insert(1))
			<-r.entered
			r.PushNew(t.Context(), r.insert(2))
			r.release <- hinder(r)
			for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(time.Millisecond) {
				r.queued.mu.Lock()
				held := r.queued.held
				r.queued.mu.Unlock()
				if held == 0 {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal("the queue is not emptied")
				}
			}
			r.end()
			<-r.ended
			if !slices.Equal(r.vectors.said, []string{"insert 1"}) {
				t.Errorf("calls %v", r.vectors.said)
			}
			if name == "away" {
				r.clock.Advance(time.Second) // what failed is due later; what was late, at once
			}
			if r.reconcile(t.Context()); len(r.stored()) != 3 || r.backlog() != (db.Backlog{}) {
				t.Errorf("stored %v, backlog %+v", r.stored(), r.backlog())
			}
		})
	}
}

func TestTheQueueIsBounded(t *testing.T) {
	t.Parallel()
	q := newQueue()
	some := func(n int) born { return born{tasks: make([]db.VectorTask, n)} }
	if q.add(some(1), nil) {
		t.Error("a queue that nobody takes from takes something")
	}
	q.set(true)
	for range 4 {
		if !q.add(some(mostQueued/4), nil) {
			t.Fatal("there is room, and it refuses")
		}
	}
	if q.add(born{}, []string{"one"}) {
		t.Error("a full queue takes more")
	}
	if taken, changed := q.take(); len(taken) != 1 || len(changed) != 0 {
		t.Errorf("took %d transactions and %d changes", len(taken), len(changed))
	}
	if !q.add(born{}, []string{"one"}) {
		t.Error("there is room again, and it refuses")
	}
	for range 2 {
		q.take()
	}
	if taken, changed := q.take(); len(taken) != 1 || len(changed) != 1 || q.held != 0 {
		t.Errorf("took %d transactions and %d changes, %d are held", len(taken), len(changed), q.held)
	}
	if !q.add(some(2*mostQueued), nil) {
		t.Error("a transaction larger than the queue is refused by an empty one")
	}
}

// A claim that has ended while its push was queued may be another's by then,
// and is left to that one.
func TestAClaimThatEndedInTheQueueIsNotGivenBack(t *testing.T) {
	t.Parallel()
	r := run(t)
	r.PushNew(t.Context(), r.insert(1))
	<-r.entered
	queued := r.insert(1)
	r.PushNew(t.Context(), queued)
	r.clock.Advance(r.set.Lease)
	others, err := r.queue.ClaimVectors(t.Context(), []string{queued[0].ID}, r.clock.Now(), r.Claimed())
	if err != nil || len(others) != 1 {
		t.Fatalf("the claim has not ended: %v %v", others, err)
	}
	r.release <- nil
	r.end()
	<-r.ended
	free, err := r.queue.ClaimVectors(t.Context(), []string{queued[0].ID}, r.clock.Now(), r.Claimed())
	if err != nil || len(free) != 0 {
		t.Errorf("another's claim was ended: %v %v", free, err)
	}
}

// What was taken is garbage once it is pushed: a queue that many memories have
// gone through holds none of them.
func TestQueueKeepsNothingThatWasTaken(t *testing.T) {
	t.Parallel()
	q := newQueue()
	q.set(true)
	var waited []weak.Pointer[db.VectorTask]
	for range 10 {
		tasks := make([]db.VectorTask, mostPushed/4)
		waited = append(waited, weak.Make(&tasks[0]))
		if !q.add(born{tasks: tasks}, nil) {
			t.Fatal("the queue is full")
		}
	}
	for _, left := range []int{6, 2, 0} {
		q.take()
		runtime.GC()
		held := 0
		for _, w := range waited {
			if w.Value() != nil {
				held++
			}
		}
		if held != left {
			t.Errorf("%d of the %d are held, and %d wait", held, len(waited), left)
		}
	}
	runtime.KeepAlive(q)
}
