package router

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"hippocampus/internal/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a model whose answers a test decides.
type fake func(ctx context.Context, query string) ([]memory.Domain, error)

func (f fake) Name() string { return "fake" }
func (f fake) Route(ctx context.Context, query string) ([]memory.Domain, error) {
	return f(ctx, query)
}

func open(t *testing.T, r Router, o Options) *Fallback {
	g := Open(r, o)
	t.Cleanup(g.Close)
	return g
}

// slow is a model that answers with the domain work after a duration.
func slow(calls *atomic.Int32, after *time.Duration) fake {
	return func(ctx context.Context, _ string) ([]memory.Domain, error) {
		calls.Add(1)
		select {
		case <-time.After(*after):
			return []memory.Domain{work}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func TestFallback_UsesRulesIfTheModelFails(t *testing.T) {
	t.Parallel()
	for name, model := range map[string]fake{
		"error": func(context.Context, string) ([]memory.Domain, error) { return nil, errors.New("boom") },
		"panic": func(context.Context, string) ([]memory.Domain, error) { panic("boom") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := open(t, model, Options{Timeout: time.Minute})
			r := g.Route(t.Context(), "Am I married?")
			if r.Source != RulesName || !r.Degraded || !strings.Contains(r.Reason, "boom") || r.Domains[0] != social {
				t.Errorf("got %+v", r)
			}
			if diff := cmp.Diff(map[string]uint64{"model": 0, "rules": 0, "late": 0, "failed": 1}, g.Counts()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFallback_UsesRulesWithoutAModel(t *testing.T) {
	t.Parallel()
	g := open(t, nil, Options{})
	want := Route{Domains: []memory.Domain{social}, Source: RulesName}
	if diff := cmp.Diff(want, g.Route(t.Context(), "Am I married?")); diff != "" {
		t.Error(diff)
	}
	want = Route{Source: RulesName, Reason: "no domain stands out: all are searched"}
	if diff := cmp.Diff(want, g.Route(t.Context(), "Explain quantum entanglement")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]uint64{"model": 0, "rules": 2, "late": 0, "failed": 0}, g.Counts()); diff != "" {
		t.Error(diff)
	}
}

func TestFallback_CachesTheModelsRoutesForAWhile(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	var down atomic.Bool
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	g := open(t, fake(func(context.Context, string) ([]memory.Domain, error) {
		calls.Add(1)
		if down.Load() {
			return nil, errors.New("down")
		}
		return []memory.Domain{work, life}, nil
	}), Options{
		Timeout: time.Minute, Now: func() time.Time { return clock },
		cacheTTL: time.Minute, cacheBytes: 1000, // two routes
	})
	ask := func(query, source string, total int32) {
		t.Helper()
		r := g.Route(t.Context(), query)
		if r.Source != source || calls.Load() != total {
			t.Errorf("%s: %+v after %d calls, want %s after %d", query, r, calls.Load(), source, total)
		}
		if len(r.Domains) > 0 {
			r.Domains[0] = chat // a caller's change must not reach the cache
		}
	}
	ask("a", "fake", 1)
	ask("a", "fake", 1)
	if r := g.Route(t.Context(), "a"); r.Domains[0] != work {
		t.Errorf("the cache was changed: %v", r.Domains)
	}
	clock = clock.Add(time.Minute)
	ask("a", "fake", 2)
	down.Store(true)
	ask("b", RulesName, 3)
	ask("b", RulesName, 4)
	down.Store(false)
	ask("b", "fake", 5)
	ask("c", "fake", 6) // evicts a
	ask("b", "fake", 6)
	ask("a", "fake", 7)
}

func TestFallback_SharesOneCallBetweenEqualQueries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		after := 100 * time.Millisecond
		g := Open(slow(&calls, &after), Options{})
		defer g.Close()
		var wait sync.WaitGroup
		for range 50 {
			wait.Go(func() {
				if r := g.Route(t.Context(), "same"); r.Source != "fake" {
					t.Errorf("got %+v", r)
				}
			})
		}
		wait.Wait()
		if calls.Load() != 1 {
			t.Errorf("%d calls", calls.Load())
		}
	})
}

// The first query waits for the limit. The next queries do not wait, until a call in the background is answered in
// time.
func TestFallback_ALateModelDelaysOneQuery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		after := 3 * time.Second
		g := Open(slow(&calls, &after), Options{})
		defer g.Close()
		ask := func(query, source string, limit time.Duration, total int32) {
			t.Helper()
			began := time.Now()
			r := g.Route(t.Context(), query)
			if took := time.Since(began); r.Source != source || took != limit || r.Degraded != (source == RulesName) {
				t.Errorf("%s: %+v in %v, want %s in %v", query, r, took, source, limit)
			}
			synctest.Wait()
			if calls.Load() != total {
				t.Errorf("%s: %d calls, want %d", query, calls.Load(), total)
			}
		}
		ask("a", RulesName, 800*time.Millisecond, 1)
		ask("a", RulesName, 0, 1) // the call goes on
		ask("b", RulesName, 0, 2)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		ask("a", "fake", 0, 2)
		ask("b", "fake", 0, 2)
		after = 100 * time.Millisecond
		ask("c", RulesName, 0, 3)
		time.Sleep(after)
		synctest.Wait()
		ask("c", "fake", 0, 3)
		ask("d", "fake", after, 4) // waited for again
		if diff := cmp.Diff(map[string]uint64{"model": 4, "rules": 0, "late": 4, "failed": 0}, g.Counts()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestFallback_BoundsItsCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		after := time.Hour
		g := Open(slow(&calls, &after), Options{CallTimeout: time.Minute, calls: 2})
		defer g.Close()
		for _, query := range []string{"a", "b", "c"} {
			if r := g.Route(t.Context(), query); r.Source != RulesName || !r.Degraded {
				t.Errorf("%s: %+v", query, r)
			}
			synctest.Wait()
		}
		if calls.Load() != 2 {
			t.Errorf("%d calls at a time, want 2", calls.Load())
		}
		time.Sleep(time.Minute) // ends both
		synctest.Wait()
		g.Route(t.Context(), "c")
		synctest.Wait()
		if calls.Load() != 3 {
			t.Errorf("%d calls after the first ended, want 3", calls.Load())
		}
	})
}

func TestFallback_AnswersCancelledRequestsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		after := time.Hour
		g := Open(slow(&calls, &after), Options{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		began := time.Now()
		if r := g.Route(ctx, "a"); r.Source != RulesName {
			t.Errorf("got %+v", r)
		}
		g.Close() // ends the call
		if took := time.Since(began); took != 0 {
			t.Errorf("took %v", took)
		}
	})
}
