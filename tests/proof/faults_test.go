package proof

import (
	"slices"
	"sync"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// fuse ends a process at a call of its stores: from then on it reaches nothing,
// and of what it did not commit nothing is left.
//
//	arm(0)           -> calls are counted; each is a point to die at
//	arm(n, before)   -> call n does not reach the store
//	arm(n, after)    -> call n does its work, and its answer does not come back
type fuse struct {
	mu    sync.Mutex
	busy  bool // does what is due, also while it is armed
	armed bool
	at    int // 1 for the first call from arm on; 0: none
	after bool
	blown bool
	calls []string // counted from arm on
}

// errDead is what a dead process gets of any store.
var errDead = memory.Errorf(memory.KindUnavailable, "this process has died")

// idle are the calls by which a process only looks, at its own times, whether
// something is to be done: nothing is counted on them.
var idle = []string{
	"ClaimDueVectors", "ResumeTurns", "RenewTurns", // what is due
	"ServingState", "CountUnembedded", "HoldReembedding", // whether the embedding model has changed
	"State", "Facts", // whether a reflection is due
	"AnnouncedApps", "EnqueueDeliveries", // whether there is something to tell
	"Erasure", // whether an erasure was not ended by its caller
	"Ping",
}

// arm counts calls, and blows at call at (0: never), before or after it.
func (f *fuse) arm(at int, after bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed, f.at, f.after, f.calls = true, at, after, nil
}

// disarm ends the counting and tells the calls.
func (f *fuse) disarm() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed = false
	return f.calls
}

func (f *fuse) dead() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.blown
}

// alive is nil until the process dies.
func (f *fuse) alive() error {
	if f.dead() {
		return errDead
	}
	return nil
}

// resting: while calls are counted, only what was asked for is done.
func (f *fuse) resting() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.armed && !f.blown && !f.busy
}

// enter begins a call, and tells its number; 0: it is not counted.
func (f *fuse) enter(name string) (call int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.blown:
		return 0, errDead
	case !f.armed || slices.Contains(idle, name):
		return 0, nil
	}
	f.calls = append(f.calls, name)
	call = len(f.calls)
	if call == f.at && !f.after {
		f.blown = true
		return call, errDead
	}
	return call, nil
}

// leave ends a call: what is answered to a dead process does not arrive.
func (f *fuse) leave(call int, err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.armed && call > 0 && call == f.at && f.after {
		f.blown = true
	}
	if f.blown {
		return errDead
	}
	return err
}

// act, get and find are calls with no, one and two results.
func act(f *fuse, name string, call func() error) error {
	n, err := f.enter(name)
	if err != nil {
		return err
	}
	return f.leave(n, call())
}

func get[T any](f *fuse, name string, call func() (T, error)) (result T, err error) {
	err = act(f, name, func() error {
		var err error
		result, err = call()
		return err
	})
	return result, err
}

func find[A, B any](f *fuse, name string, call func() (A, B, error)) (a A, b B, err error) {
	err = act(f, name, func() error {
		var err error
		a, b, err = call()
		return err
	})
	return a, b, err
}

// between puts the fuse between a process and its stores.
func (f *fuse) between(records db.Store, vectors vectorstore.Store) (db.Store, vectorstore.Store) {
	return &mortalRecords{f, records}, &mortalVectors{f, vectors}
}
