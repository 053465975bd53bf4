package guard

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/sqlitevec"
	"hippocampus/vectorstore/vectortest"
)

func TestGuardedStoreKeepsTheContract(t *testing.T) {
	t.Parallel()
	vectortest.Run(t, func(t *testing.T, space vectorstore.Space) vectorstore.Store {
		store, err := sqlitevec.Open(t.Context(), sqlitevec.Options{Path: filepath.Join(t.TempDir(), "vectors.db"), Space: space})
		if err != nil {
			t.Fatal(err)
		}
		return New(store)
	})
}

// scripted answers every search in the way it is told.
type scripted struct {
	vectorstore.Store
	answer func(context.Context) error
	calls  int
}

func (s *scripted) Search(ctx context.Context, _ vectorstore.Query) ([]vectorstore.Hit, error) {
	s.calls++
	return nil, s.answer(ctx)
}

func away(context.Context) error    { return memory.Errorf(memory.KindUnavailable, "away") }
func back(context.Context) error    { return nil }
func refuses(context.Context) error { return memory.Errorf(memory.KindInvalid, "bad query") }

// waits ends with its caller, as a store does that hangs.
func waits(ctx context.Context) error {
	<-ctx.Done()
	return memory.Errorf(memory.KindUnavailable, "no answer: %w", ctx.Err())
}

// search asks n times, each time with the patience.
func search(t *testing.T, guarded *Store, n int, patience func(context.Context) (context.Context, context.CancelFunc)) {
	for range n {
		ctx, cancel := patience(t.Context())
		_, _ = guarded.Search(ctx, vectorstore.Query{})
		cancel()
	}
}

// patient waits forever, slow a minute, and leaving goes after one.
func patient(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}
func slow(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, time.Minute)
}
func leaving(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(time.Minute, cancel)
	return ctx, func() { timer.Stop(); cancel() }
}

func wantCalls(t *testing.T, store *scripted, want int) {
	t.Helper()
	if store.calls != want {
		t.Errorf("the store was asked %d times, want %d", store.calls, want)
	}
	store.calls = 0
}

func TestAStoreThatIsAwayIsNotAskedOverAndOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &scripted{answer: away}
		guarded := New(store)
		search(t, guarded, 20, patient)
		wantCalls(t, store, failures)
		if _, err := guarded.Search(t.Context(), vectorstore.Query{}); !memory.IsKind(err, memory.KindUnavailable) {
			t.Error(err)
		}
		for range 3 {
			time.Sleep(delay)
			search(t, guarded, 20, patient)
			wantCalls(t, store, 1) // one trial
		}
		store.answer = back
		search(t, guarded, 1, patient)
		wantCalls(t, store, 0)
		time.Sleep(delay)
		search(t, guarded, 20, patient)
		wantCalls(t, store, 20)
	})
}

// elsewhere is a vectorstore.Remote.
type elsewhere struct {
	*scripted
	connected bool
}

func (e *elsewhere) Healthy() bool { return e.connected }

func TestHealthy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &elsewhere{&scripted{answer: back}, true}
		guarded := New(store)
		want := func(when string, want bool) {
			t.Helper()
			if got := guarded.Healthy(); got != want {
				t.Errorf("%s: healthy is %t", when, got)
			}
		}
		want("at first", true)
		store.connected = false
		want("without a connection", false)
		store.connected, store.answer = true, away
		search(t, guarded, failures-1, patient)
		want("after a few failures", true)
		search(t, guarded, 1, patient)
		want("while it is not asked", false)
		store.answer = back
		time.Sleep(delay)
		want("before the trial", false)
		search(t, guarded, 1, patient)
		want("after it", true)
	})
	if New(&scripted{}).Healthy() {
		t.Error("a store in this process is a remote one")
	}
}

// A trial under way is the only one.
func TestTrialsDoNotOverlap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &scripted{answer: away}
		guarded := New(store)
		search(t, guarded, failures, patient)
		wantCalls(t, store, failures)
		time.Sleep(delay)
		store.answer = waits
		go search(t, guarded, 1, slow)
		synctest.Wait()
		search(t, guarded, 20, patient)
		wantCalls(t, store, 1)
		time.Sleep(2 * time.Minute)
	})
}

func TestAStoreThatHangsIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &scripted{answer: waits}
		guarded := New(store)
		search(t, guarded, 20, slow)
		wantCalls(t, store, failures)
	})
}

// Whoever leaves, comes too late or is refused neither opens the breaker nor
// hides failures before and after.
func TestWhatSaysNothingAboutTheStore(t *testing.T) {
	t.Parallel()
	late := func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, 0) }
	for name, test := range map[string]struct {
		answer   func(context.Context) error
		patience func(context.Context) (context.Context, context.CancelFunc)
	}{
		"left": {waits, leaving}, "late": {waits, late}, "refused": {refuses, patient},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := &scripted{answer: test.answer}
				guarded := New(store)
				search(t, guarded, 20, test.patience)
				wantCalls(t, store, 20)

				store.answer = away
				search(t, guarded, failures-1, patient)
				store.answer = test.answer
				search(t, guarded, 1, test.patience)
				store.answer = away
				search(t, guarded, 20, patient)
				wantCalls(t, store, failures+1)

				// Nor does it close an open one, and the trial's place is free again.
				time.Sleep(delay)
				store.answer = test.answer
				search(t, guarded, 1, test.patience)
				wantCalls(t, store, 1)
				store.answer = away
				time.Sleep(delay)
				search(t, guarded, 20, patient)
				wantCalls(t, store, 1)
				store.answer = back
				time.Sleep(delay)
				search(t, guarded, 20, patient)
				wantCalls(t, store, 20)
			})
		})
	}
}

func TestAPanicGivesTheTrialBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &scripted{answer: away}
		guarded := New(store)
		search(t, guarded, failures, patient)
		time.Sleep(delay)
		store.answer = func(context.Context) error { panic("defect") }
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is hidden from the caller")
				}
			}()
			search(t, guarded, 1, patient)
		}()
		store.answer = back
		store.calls = 0
		time.Sleep(delay)
		search(t, guarded, 1, patient)
		wantCalls(t, store, 1)
	})
}
