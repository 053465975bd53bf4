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
	*fixture
	entered chan struct{} // closed when the first push begins
	release chan error    // receives the result of the first push
	end     context.CancelFunc
	ended   chan struct{}
}

func run(t *testing.T) *running {
	r := &running{
		fixture: newFixture(t),
		entered: make(chan struct{}), release: make(chan error, 1), ended: make(chan struct{}),
	}
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
	r.queue.setOpen(true) // as Run does, which may come later
	go func() { defer close(r.ended); r.Run(ctx) }()
	return r
}

// Writers do not wait. Changes that arrive during a push are pushed as one batch,
// new memories before changed ones, and Run waits for all of them.
func TestQueue_BatchesChanges(t *testing.T) {
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
	if want := []string{"insert 1", "insert 5", "replace 1"}; !slices.Equal(r.vectors.calls, want) {
		t.Errorf("calls %v, want %v", r.vectors.calls, want)
	}
	if got := r.stored(); len(got) != 6 || !slices.Contains(got, "changed") || !r.settled() {
		t.Errorf("stored %v, backlog %+v", got, r.backlog())
	}
	r.PushNew(t.Context(), r.insert(1)) // the queue is closed: the caller pushes
	if !r.settled() || len(r.stored()) != 7 {
		t.Errorf("stored %v, backlog %+v", r.stored(), r.backlog())
	}
}

// When Run ends it does not wait for an unavailable store. Nor does it push memories whose claims may end. The
// reconciler pushes both later.
func TestQueue_LeavesRestToReconciler(t *testing.T) {
	t.Parallel()
	for name, hinder := range map[string]func(r *running) error{
		"unavailable": func(r *running) error { r.end(); return unavailable },
		"late":        func(r *running) error { r.clock.Advance(16 * time.Second); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t)
			r.PushNew(t.Context(), r.insert(1))
			<-r.entered
			r.PushNew(t.Context(), r.insert(2))
			r.release <- hinder(r)
			for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(time.Millisecond) {
				r.queue.mu.Lock()
				held := r.queue.size
				r.queue.mu.Unlock()
				if held == 0 {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal("the queue is not emptied")
				}
			}
			r.end()
			<-r.ended
			if !slices.Equal(r.vectors.calls, []string{"insert 1"}) {
				t.Errorf("calls %v", r.vectors.calls)
			}
			if name == "unavailable" {
				r.clock.Advance(time.Second) // failed pushes are due later, late ones at once
			}
			r.reconcile(t.Context())
			if len(r.stored()) != 3 || !r.settled() {
				t.Errorf("stored %v, backlog %+v", r.stored(), r.backlog())
			}
		})
	}
}

func TestQueue_IsBounded(t *testing.T) {
	t.Parallel()
	q := newQueue()
	some := func(n int) insertion { return insertion{tasks: make([]db.VectorTask, n)} }
	if q.add(some(1), nil) {
		t.Error("a closed queue accepts a change")
	}
	q.setOpen(true)
	for range 4 {
		if !q.add(some(maxQueued/4), nil) {
			t.Fatal("the queue refuses a change although it has room")
		}
	}
	if q.add(insertion{}, []string{"one"}) {
		t.Error("a full queue accepts a change")
	}
	if taken, changed := q.take(); len(taken) != 1 || len(changed) != 0 {
		t.Errorf("took %d transactions and %d changes", len(taken), len(changed))
	}
	if !q.add(insertion{}, []string{"one"}) {
		t.Error("the queue refuses a change although it has room again")
	}
	for range 2 {
		q.take()
	}
	if taken, changed := q.take(); len(taken) != 1 || len(changed) != 1 || q.size != 0 {
		t.Errorf("took %d transactions and %d changes, the size is %d", len(taken), len(changed), q.size)
	}
	if !q.add(some(2*maxQueued), nil) {
		t.Error("a transaction larger than the queue is refused by an empty one")
	}
}

// If a claim ended while its push was queued, another pusher may have claimed the
// row, and keeps it.
func TestQueue_DropsEndedClaims(t *testing.T) {
	t.Parallel()
	r := run(t)
	r.PushNew(t.Context(), r.insert(1))
	<-r.entered
	queued := r.insert(1)
	r.PushNew(t.Context(), queued)
	r.clock.Advance(r.set.Lease)
	others, err := r.outbox.ClaimVectors(t.Context(), []string{queued[0].ID}, r.clock.Now(), r.ClaimedUntil())
	if err != nil || len(others) != 1 {
		t.Fatalf("the claim has not ended: %v %v", others, err)
	}
	r.release <- nil
	r.end()
	<-r.ended
	free, err := r.outbox.ClaimVectors(t.Context(), []string{queued[0].ID}, r.clock.Now(), r.ClaimedUntil())
	if err != nil || len(free) != 0 {
		t.Errorf("the claim of another pusher was ended: %v %v", free, err)
	}
}

// The garbage collector can free memories that were taken from the queue.
func TestQueue_ReleasesTakenMemories(t *testing.T) {
	t.Parallel()
	q := newQueue()
	q.setOpen(true)
	var waited []weak.Pointer[db.VectorTask]
	for range 10 {
		tasks := make([]db.VectorTask, maxPushed/4)
		waited = append(waited, weak.Make(&tasks[0]))
		if !q.add(insertion{tasks: tasks}, nil) {
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
			t.Errorf("%d of %d are reachable, want the %d that wait", held, len(waited), left)
		}
	}
	runtime.KeepAlive(q)
}
