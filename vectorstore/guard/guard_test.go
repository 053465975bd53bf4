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

func TestStore_Conformance(t *testing.T) {
	t.Parallel()
	vectortest.Run(t, func(t *testing.T, space vectorstore.Space) vectorstore.Store {
		o := sqlitevec.Options{Path: filepath.Join(t.TempDir(), "vectors.db"), Space: space}
		store, err := sqlitevec.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return New(store)
	})
}

// scripted answers every search by calling answer.
type scripted struct {
	vectorstore.Store
	answer func(context.Context) error
	calls  int
}

func (s *scripted) Search(ctx context.Context, _ vectorstore.Query) ([]vectorstore.Hit, error) {
	s.calls++
	return nil, s.answer(ctx)
}

func unavailable(context.Context) error { return memory.Errorf(memory.KindUnavailable, "unavailable") }
func succeeds(context.Context) error    { return nil }
func refuses(context.Context) error     { return memory.Errorf(memory.KindInvalid, "bad query") }

// hangs returns when the context of its caller ends.
func hangs(ctx context.Context) error {
	<-ctx.Done()
	return memory.Errorf(memory.KindUnavailable, "no answer: %w", ctx.Err())
}

type newContext func(context.Context) (context.Context, context.CancelFunc)

// search searches n times, each time with a new context.
func search(t *testing.T, guarded *Store, n int, with newContext) {
	for range n {
		ctx, cancel := with(t.Context())
		_, _ = guarded.Search(ctx, vectorstore.Query{})
		cancel()
	}
}

func noDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

func oneMinute(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, time.Minute)
}

// canceled cancels the context after one minute.
func canceled(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(time.Minute, cancel)
	return ctx, func() { timer.Stop(); cancel() }
}

func wantCalls(t *testing.T, store *scripted, want int) {
	t.Helper()
	if store.calls != want {
		t.Errorf("the store was called %d times, want %d", store.calls, want)
	}
	store.calls = 0
}

func TestStore_StopsCallingUnavailableStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &scripted{answer: unavailable}
		guarded := New(store)
		search(t, guarded, 20, noDeadline)
		wantCalls(t, store, failures)
		if _, err := guarded.Search(t.Context(), vectorstore.Query{}); !memory.IsKind(err, memory.KindUnavailable) {
			t.Error(err)
		}
		for range 3 {
			time.Sleep(delay)
			search(t, guarded, 20, noDeadline)
			wantCalls(t, store, 1) // one trial
		}
		store.answer = succeeds
		search(t, guarded, 1, noDeadline)
		wantCalls(t, store, 0)
		time.Sleep(delay)
		search(t, guarded, 20, noDeadline)
		wantCalls(t, store, 20)
	})
}

// remote is a vectorstore.Remote.
type remote struct {
	*scripted
	connected bool
}

func (r *remote) Healthy() bool { return r.connected }

func TestHealthy_DependsOnConnectionAndBreaker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &remote{&scripted{answer: succeeds}, true}
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
		store.connected, store.answer = true, unavailable
		search(t, guarded, failures-1, noDeadline)
		want("after a few failures", true)
		search(t, guarded, 1, noDeadline)
		want("with an open breaker", false)
		store.answer = succeeds
		time.Sleep(delay)
		want("before the trial", false)
		search(t, guarded, 1, noDeadline)
		want("after it", true)
	})
	if New(&scripted{}).Healthy() {
		t.Error("a store in this process is healthy as a remote one")
	}
}

func TestStore_RunsOneTrialAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &scripted{answer: unavailable}
		guarded := New(store)
		search(t, guarded, failures, noDeadline)
		wantCalls(t, store, failures)
		time.Sleep(delay)
		store.answer = hangs
		go search(t, guarded, 1, oneMinute)
		synctest.Wait()
		search(t, guarded, 20, noDeadline)
		wantCalls(t, store, 1)
		time.Sleep(2 * time.Minute)
	})
}

func TestStore_CountsDeadlinesAsFailures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &scripted{answer: hangs}
		guarded := New(store)
		search(t, guarded, 20, oneMinute)
		wantCalls(t, store, failures)
	})
}

// A call that was canceled, late or refused neither opens the breaker nor resets
// its count of failures.
func TestStore_IgnoresCanceledAndRefusedCalls(t *testing.T) {
	t.Parallel()
	late := func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, 0) }
	for name, test := range map[string]struct {
		answer func(context.Context) error
		with   newContext
	}{
		"canceled": {hangs, canceled}, "late": {hangs, late}, "refused": {refuses, noDeadline},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := &scripted{answer: test.answer}
				guarded := New(store)
				search(t, guarded, 20, test.with)
				wantCalls(t, store, 20)

				store.answer = unavailable
				search(t, guarded, failures-1, noDeadline)
				store.answer = test.answer
				search(t, guarded, 1, test.with)
				store.answer = unavailable
				search(t, guarded, 20, noDeadline)
				wantCalls(t, store, failures+1)

				// Such a call does not close an open breaker either, and another trial may follow.
				time.Sleep(delay)
				store.answer = test.answer
				search(t, guarded, 1, test.with)
				wantCalls(t, store, 1)
				store.answer = unavailable
				time.Sleep(delay)
				search(t, guarded, 20, noDeadline)
				wantCalls(t, store, 1)
				store.answer = succeeds
				time.Sleep(delay)
				search(t, guarded, 20, noDeadline)
				wantCalls(t, store, 20)
			})
		})
	}
}

func TestStore_AllowsTrialAfterPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &scripted{answer: unavailable}
		guarded := New(store)
		search(t, guarded, failures, noDeadline)
		time.Sleep(delay)
		store.answer = func(context.Context) error { panic("defect") }
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic does not reach the caller")
				}
			}()
			search(t, guarded, 1, noDeadline)
		}()
		store.answer = succeeds
		store.calls = 0
		time.Sleep(delay)
		search(t, guarded, 1, noDeadline)
		wantCalls(t, store, 1)
	})
}
