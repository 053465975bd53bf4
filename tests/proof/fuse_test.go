package proof

import (
	"slices"
	"sync"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

//go:generate go run ./gencrashing

// fuse crashes a process at one call of its stores: from then on every call
// fails, and what the process did not commit is lost.
//
//	arm(0)           -> count the calls: each is a crash point
//	arm(n, before)   -> call n does not reach the store
//	arm(n, after)    -> call n does its work, and its answer is lost
type fuse struct {
	mu    sync.Mutex
	polls bool // polls also while it is armed
	armed bool
	at    int // 1 for the first call since arm; 0: no call
	after bool
	blown bool
	calls []string // counted since arm
}

// errCrashed is what every store returns to a crashed process.
var errCrashed = memory.Errorf(memory.KindUnavailable, "this process has crashed")

// polls are the calls by which a process looks for work at its own times. They
// find nothing while calls are counted.
var polls = []string{
	"ClaimDueVectors", "ClaimTurns", "DueConsolidations", "EnqueueDeliveries", "Idle", "Unconsolidated",
}

// uncounted are the calls that a process makes at its own times.
var uncounted = []string{
	"ClaimDueVectors", "ClaimTurns", "RenewTurns", // due turns and vectors
	"ServingState", "CountUnembedded", "HoldReembedding", // a change of the embedding model
	"State", "Facts", // a due reflection
	"AnnouncedApps", "EnqueueDeliveries", // announcements to deliver
	"Erasure",                        // an erasure that its caller did not finish
	"CountActive",                    // the bound of memories, if the last count is old
	"Calibration", "KeepCalibration", // the scale of confidence, in the background
	"TokensOf", "AddTokens", // of models, every few seconds
	"RefusedFields", "KeepRefusedField", // of chat models, at the start and once for each
	"Ping",
}

// arm counts calls from now on, and crashes before or after call at (0: never).
func (f *fuse) arm(at int, after bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed = true
	f.at = at
	f.after = after
	f.calls = nil
}

// disarm stops counting and returns the calls.
func (f *fuse) disarm() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed = false
	return f.calls
}

func (f *fuse) crashed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.blown
}

// alive returns nil until the process crashes.
func (f *fuse) alive() error {
	if f.crashed() {
		return errCrashed
	}
	return nil
}

// enter begins a call. It returns the call's number, or 0 if the call is not
// counted, and whether the call is to be skipped without an error.
func (f *fuse) enter(name string) (call int, skip bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.blown:
		return 0, false, errCrashed
	case f.armed && !f.polls && slices.Contains(polls, name):
		return 0, true, nil
	case !f.armed || slices.Contains(uncounted, name):
		return 0, false, nil
	}
	f.calls = append(f.calls, name)
	call = len(f.calls)
	if call == f.at && !f.after {
		f.blown = true
		return call, false, errCrashed
	}
	return call, false, nil
}

// leave ends a call. A crashed process gets errCrashed in place of the answer.
func (f *fuse) leave(call int, err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.armed && call > 0 && call == f.at && f.after {
		f.blown = true
	}
	if f.blown {
		return errCrashed
	}
	return err
}

// act makes a call that returns an error.
func act(f *fuse, name string, call func() error) error {
	n, skip, err := f.enter(name)
	if skip || err != nil {
		return err
	}
	return f.leave(n, call())
}

// get makes a call that returns a value and an error.
func get[T any](f *fuse, name string, call func() (T, error)) (result T, err error) {
	err = act(f, name, func() error {
		var err error
		result, err = call()
		return err
	})
	return result, err
}

// find makes a call that returns two values and an error.
func find[A, B any](f *fuse, name string, call func() (A, B, error)) (a A, b B, err error) {
	err = act(f, name, func() error {
		var err error
		a, b, err = call()
		return err
	})
	return a, b, err
}

// wrap puts the fuse between a process and its stores.
func (f *fuse) wrap(store db.Store, vectors vectorstore.Store) (db.Store, vectorstore.Store) {
	return &crashingStore{f, store}, &crashingVectors{f, vectors}
}
