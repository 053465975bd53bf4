package tokens_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/db/tokens"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/tests/apptest"
)

var begin = time.Date(2026, 3, 1, 18, 0, 0, 0, time.UTC)

// counted counts the reads of the database, and may refuse to work.
type counted struct {
	db.Tokens
	reads  atomic.Int64
	broken atomic.Bool
}

func (c *counted) TokensOf(ctx context.Context, appID string, day int) ([]memory.TokenDay, error) {
	c.reads.Add(1)
	if c.broken.Load() {
		return nil, errors.New("unavailable")
	}
	return c.Tokens.TokensOf(ctx, appID, day)
}

func (c *counted) AddTokens(ctx context.Context, used []memory.TokenDay) error {
	if c.broken.Load() {
		return errors.New("unavailable")
	}
	return c.Tokens.AddTokens(ctx, used)
}

type fixture struct {
	t       *testing.T
	clock   *apptest.Clock
	records *counted
	meter   *tokens.Meter
}

// newFixture makes a meter. The app "small" has a quota of 100.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t, clock: apptest.NewClock(begin), records: &counted{Tokens: apptest.SQLite(t)}}
	f.meter = f.another()
	return f
}

// another returns the meter of another server.
func (f *fixture) another() *tokens.Meter {
	quota := func(appID string) (int, string) {
		if appID == "small" {
			return 100, "quotas.apps.small.chat_tokens"
		}
		return 0, ""
	}
	return tokens.New(f.records, quota, f.clock.Now, zap.NewNop())
}

// store runs a meter until it has stored its counts.
func (f *fixture) store(m *tokens.Meter) {
	ctx, cancel := context.WithCancel(f.t.Context())
	cancel()
	m.Run(ctx)
}

func (f *fixture) today(m *tokens.Meter) tokens.Today {
	f.t.Helper()
	today, err := m.Today(f.t.Context(), "small")
	if err != nil {
		f.t.Fatal(err)
	}
	return today
}

func TestMeter_RefusesBeyondTheQuota(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := t.Context()
	f.meter.Count("small", memory.EmbeddingTokens, 1000)
	f.meter.Count("small", memory.ChatTokens, 99)
	if err := f.meter.Admit(ctx, "small"); err != nil {
		t.Errorf("99 of 100 tokens: %v", err)
	}
	f.meter.Count("small", memory.ChatTokens, 1)
	err := f.meter.Admit(ctx, "small")
	refused := memory.Limited(err)
	if refused == nil || refused.Kind != memory.KindUnavailable || refused.Limit != "quotas.chat_tokens" ||
		refused.RetryAfter != 6*time.Hour || !strings.Contains(err.Error(), "raise quotas.apps.small.chat_tokens") {
		t.Fatalf("100 of 100 tokens: %#v", err)
	}
	f.meter.Count("large", memory.ChatTokens, 1_000_000)
	if err := f.meter.Admit(ctx, "large"); err != nil {
		t.Errorf("an app without a quota: %v", err)
	}
	f.clock.Advance(6 * time.Hour)
	if err := f.meter.Admit(ctx, "small"); err != nil {
		t.Errorf("the next day: %v", err)
	}
	if got := f.today(f.meter); got != (tokens.Today{Day: begin.Add(6 * time.Hour), Quota: 100}) {
		t.Errorf("the next day has %+v", got)
	}
}

func TestMeter_SharesTheCount(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other := f.another()
	if err := other.Admit(t.Context(), "small"); err != nil {
		t.Fatal(err)
	}
	f.meter.Count("small", memory.ChatTokens, 60)
	other.Count("small", memory.ChatTokens, 40)
	f.store(f.meter)
	f.store(f.meter) // which has nothing new to store
	f.clock.Advance(5 * time.Second)
	for name, m := range map[string]*tokens.Meter{"one": f.meter, "other": other, "third": f.another()} {
		if err := m.Admit(t.Context(), "small"); (err == nil) != (name != "other") {
			t.Errorf("before the other has stored, %s: %v", name, err)
		}
	}
	f.store(other)
	f.clock.Advance(5 * time.Second)
	if err := f.meter.Admit(t.Context(), "small"); memory.LimitOf(err) == "" {
		t.Errorf("%v", err)
	}
	if got := f.today(f.another()); got.Chat != 100 || got.Embedding != 0 {
		t.Errorf("stored %+v", got)
	}
}

func TestMeter_ReadsSeldom(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for range 10 {
		f.meter.Count("large", memory.ChatTokens, 1)
		_ = f.meter.Admit(t.Context(), "large")
	}
	if n := f.records.reads.Load(); n != 0 {
		t.Errorf("%d reads for an app without a quota", n)
	}
	for range 10 {
		_ = f.meter.Admit(t.Context(), "small")
		f.clock.Advance(time.Second)
	}
	if n := f.records.reads.Load(); n != 2 {
		t.Errorf("%d reads in ten seconds", n)
	}
}

// While the database is unavailable, the counts are kept, and nothing is refused that is not known to exceed a quota.
func TestMeter_KeepsCountsDuringAnOutage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.records.broken.Store(true)
	f.meter.Count("small", memory.ChatTokens, 60)
	if err := f.meter.Admit(t.Context(), "small"); err != nil {
		t.Error(err)
	}
	f.store(f.meter)
	f.records.broken.Store(false)
	f.store(f.meter)
	if got := f.today(f.another()); got.Chat != 60 {
		t.Errorf("stored %+v", got)
	}
}

func TestMeter_StoresInTheBackground(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const text = "I keep seventeen green parrots in Porto."
	for range 1500 { // more than wait at a time
		f.meter.Estimate("small", memory.EmbeddingTokens, text, text)
	}
	f.store(f.meter)
	exact, rough := llm.EstimateTokens(text, text), len(text+text)/4
	if got, want := f.today(f.another()).Embedding, 1000*exact+500*rough; got != want {
		t.Errorf("%d tokens, want %d", got, want)
	}
	if total := f.meter.Total()[memory.EmbeddingTokens]; total != f.today(f.meter).Embedding {
		t.Errorf("the total is %d", total)
	}
}
