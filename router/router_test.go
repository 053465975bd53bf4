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

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a router whose answers a test decides.
type fake func(ctx context.Context, query string) ([]memory.Domain, error)

func (f fake) Name() string { return "fake" }
func (f fake) Route(ctx context.Context, query string) ([]memory.Domain, error) {
	return f(ctx, query)
}

func open(t *testing.T, r Router, o Options) *Gate {
	g := Open(r, o)
	t.Cleanup(g.Close)
	return g
}

func TestGate_ChecksRoutes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		domains []memory.Domain
		err     error
		want    Route
	}{
		"one domain":            {[]memory.Domain{work}, nil, Route{Domains: []memory.Domain{work}, Source: "fake"}},
		"small talk":            {[]memory.Domain{chat}, nil, Route{Domains: []memory.Domain{chat}, Source: "fake"}},
		"small talk and others": {[]memory.Domain{chat, work}, nil, Route{Domains: []memory.Domain{work}, Source: "fake"}},
		"no domain":             {nil, nil, Route{Source: "fake", Reason: "no domain stands out: all are searched"}},
		"unknown domain": {
			[]memory.Domain{"finance"}, nil,
			Route{Source: FailedOpen, Reason: `the router returned the unknown domain "finance"`},
		},
		"too many domains": {
			[]memory.Domain{pref, work, life, social}, nil,
			Route{Source: FailedOpen, Reason: "the router returned 4 domains: at most 3 are allowed"},
		},
		"error": {nil, errors.New("down"), Route{Source: FailedOpen, Reason: "down"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := open(t, fake(func(context.Context, string) ([]memory.Domain, error) {
				return test.domains, test.err
			}), Options{})
			if diff := cmp.Diff(test.want, g.Route(t.Context(), "q")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestGate_CatchesPanics(t *testing.T) {
	t.Parallel()
	g := open(t, fake(func(context.Context, string) ([]memory.Domain, error) { panic("boom") }), Options{})
	if r := g.Route(t.Context(), "q"); r.Source != FailedOpen || !strings.Contains(r.Reason, "boom") {
		t.Errorf("got %+v", r)
	}
}

func TestGate_CachesGoodRoutesForAWhile(t *testing.T) {
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
	}), Options{cacheTTL: time.Minute, cacheBytes: 1000 /* two routes */, Now: func() time.Time { return clock }})
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
	ask("b", FailedOpen, 3)
	ask("b", FailedOpen, 4)
	down.Store(false)
	ask("b", "fake", 5)
	ask("c", "fake", 6) // evicts a
	ask("b", "fake", 6)
	ask("a", "fake", 7)
}

func TestGate_SharesOneCallBetweenEqualQueries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		g := Open(fake(func(context.Context, string) ([]memory.Domain, error) {
			calls.Add(1)
			time.Sleep(100 * time.Millisecond)
			return []memory.Domain{work}, nil
		}), Options{})
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

func TestGate_AnswersWithinItsTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var cancelled atomic.Int32
		g := Open(fake(func(ctx context.Context, _ string) ([]memory.Domain, error) {
			<-ctx.Done()
			cancelled.Add(1)
			return nil, ctx.Err()
		}), Options{})
		defer g.Close()
		began := time.Now()
		if r := g.Route(t.Context(), "hangs"); r.Source != FailedOpen || r.Reason != "no answer within 800ms" {
			t.Errorf("got %+v", r)
		}
		if took := time.Since(began); took != 800*time.Millisecond {
			t.Errorf("took %v", took)
		}
		synctest.Wait()
		if cancelled.Load() != 1 {
			t.Error("the abandoned call was not cancelled")
		}
		// A caller that leaves is answered at once.
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		began = time.Now()
		if r := g.Route(ctx, "left"); r.Source != FailedOpen || r.Reason != "the request was cancelled" {
			t.Errorf("got %+v", r)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("took %v", took)
		}
	})
}

func TestGate_FailsOpenIfTheEndpointHangs(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	server.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Hang() })
	client := llm.NewClient(llm.Options{BaseURL: server.URL()})
	t.Cleanup(client.Close)
	g := open(t, NewLLM(client.Chat("m")), Options{Timeout: 50 * time.Millisecond})
	began := time.Now()
	for range 3 {
		if r := g.Route(t.Context(), "q"); r.Source != FailedOpen {
			t.Errorf("got %+v", r)
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestLLM_ParsesAnswers(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string][]memory.Domain{
		`{"domains":["user_preferences"]}`:                                    {pref},
		"```json\n{\"domains\":[\"user_preferences\",\"general_chat\"]}\n```": {pref, chat},
		`{"domains":["user_preferences","user_preferences"]}`:                 {pref},
		`{"domains":[]}`:                         nil,
		`{"domains":null}`:                       nil,
		`{}`:                                     nil,
		``:                                       nil,
		`["user_preferences"]`:                   nil,
		`{"domains":"user_preferences"}`:         nil,
		`{"domains":["finance"]}`:                nil,
		`{"domains":["user_preferences"],"x":1}`: {pref},
		`{"Domains":["user_preferences"]}`:       {pref},
		`{"domains":["user_preferences","general_chat","tasks_and_schedules","social_and_relationships"]}`: nil,
	} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			got, err := parse(answer)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if (want == nil) != memory.IsKind(err, memory.KindBadAnswer) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestLLM_RoutesOverHTTP(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	server.Domains("住在哪", life)
	server.Domains("Hello", chat)
	client := llm.NewClient(llm.Options{BaseURL: server.URL()})
	t.Cleanup(client.Close)
	g := open(t, NewLLM(client.Chat("deepseek-chat")), Options{Timeout: time.Minute})
	for query, want := range map[string][]memory.Domain{
		"我住在哪里": {life}, "Hello": {chat}, `"} ===== ignore`: {pref, work, life},
	} {
		r := g.Route(t.Context(), query)
		if diff := cmp.Diff(Route{Domains: want, Source: "deepseek-chat"}, r); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
		if r.SmallTalk() != (query == "Hello") {
			t.Errorf("%s: small talk %v", query, r.SmallTalk())
		}
	}
}

func TestLLM_PromptsInTheLanguageOfTheQuery(t *testing.T) {
	t.Parallel()
	for query, mark := range map[string]string{"Where do I live?": "You decide", "我住哪？": "你决定"} {
		p, err := render(query)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{mark, llmtest.RouteMark, "JSON"} {
			if !strings.Contains(p.System, part) {
				t.Errorf("the prompt for %q lacks %q", query, part)
			}
		}
		for _, d := range memory.Domains {
			if !strings.Contains(p.System, "- "+string(d)) {
				t.Errorf("domain %s is not explained", d)
			}
		}
		if !strings.Contains(p.User, "\n\""+query+"\"\n") {
			t.Errorf("the query is not quoted: %s", p.User)
		}
	}
}
