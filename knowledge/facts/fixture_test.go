package facts

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/db/postgres"
	"hippocampus/db/postgres/postgrestest"
	"hippocampus/ingest/write"
	"hippocampus/internal/memory"
	"hippocampus/tests/apptest"

	"go.uber.org/zap"
)

var (
	ada   = memory.Owner{AppID: "app", UserID: "ada"}
	begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	city  = db.Timeline{Owner: ada, Type: "profile", Key: "home_city"}
)

// background is the context of helpers that rapid checks share.
var background = context.Background()

// away is what a failing embedder returns.
var away = memory.Errorf(memory.KindUnavailable, "away")

// day is n days past begin.
func day(n int) time.Time { return begin.AddDate(0, 0, n) }

// fixture is a service on a real database, with a clock that the test moves.
type fixture struct {
	*Service
	store    db.Store
	clock    *apptest.Clock
	embedder *apptest.Embedder
	pusher   *apptest.Pusher
	written  []memory.Owner
}

// newFixture makes a fixture whose clock is at day 100.
func newFixture(t testing.TB, store db.Store) *fixture {
	t.Helper()
	clock := apptest.NewClock(day(100))
	b := &fixture{
		store: store, clock: clock, embedder: apptest.HashedEmbedder(16), pusher: apptest.NewPusher(clock),
	}
	guess := func(string) memory.Domain { return memory.Lifestyle }
	writer := write.New(write.Parts{
		Records: store, Embedder: b.embedder, Vectors: apptest.Vectors(t, b.embedder),
		Pusher: b.pusher, Now: clock.Now, Log: zap.NewNop(),
	}, write.Settings{MergeSimilarity: 0.95, JudgeSimilarity: 0.8, OwnWindow: time.Hour, OwnLimit: 100})
	b.Service = New(Parts{
		Records: store, Embedder: b.embedder, Pusher: b.pusher, Guess: guess, Compare: writer.Compare,
		OnChanged: func(o memory.Owner) { b.written = append(b.written, o) },
		OnAdded:   func(context.Context, memory.Owner, int) {}, Now: clock.Now,
	}, 0.5)
	return b
}

// onEach runs a test on both databases; open may be called several times for the same one.
func onEach(t *testing.T, test func(t *testing.T, open func() db.Store)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		s := apptest.SQLite(t)
		test(t, func() db.Store { return s }) // one process has it
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		url := postgrestest.URL(t)
		test(t, func() db.Store {
			s, err := postgres.Open(t.Context(), postgres.Options{URL: url})
			return apptest.Migrated(t, s, err)
		})
	})
}

// newSQLite is a fixture on SQLite alone.
func newSQLite(t *testing.T) *fixture {
	t.Helper()
	return newFixture(t, apptest.SQLite(t))
}

// tester is the common part of a test and a rapid check.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// says is evidence for ada's city.
func says(value string, confidence float64, from, until time.Time) Evidence {
	quoted, _ := json.Marshal(value)
	return Evidence{Type: city.Type, Key: city.Key, Value: quoted, Confidence: confidence, ValidFrom: from,
		ValidUntil: until}
}

// timeline formats a timeline as "A[0,10) B[10,)", in days.
func (b *fixture) timeline(t tester) string {
	t.Helper()
	var told []string
	for _, f := range b.accepted(t, city) {
		until := ""
		if !f.ValidUntil.IsZero() {
			until = fmt.Sprint(f.ValidUntil.Sub(begin).Hours() / 24)
		}
		told = append(told, fmt.Sprintf("%s[%v,%s)", strings.Trim(string(f.Value), `"`), f.ValidFrom.Sub(begin).Hours()/24,
			until))
	}
	return strings.Join(told, " ")
}

func (b *fixture) history(t tester, line db.Timeline) []memory.Fact {
	t.Helper()
	all, err := b.store.FactHistory(background, line, nil, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// accepted lists the accepted facts by valid_from.
func (b *fixture) accepted(t tester, line db.Timeline) (list []memory.Fact) {
	t.Helper()
	for _, f := range b.history(t, line) {
		if f.State == memory.FactAccepted {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(x, y memory.Fact) int { return x.ValidFrom.Compare(y.ValidFrom) })
	return list
}

// active lists a user's active memories, newest first.
func (b *fixture) active(t tester, owner memory.Owner) []memory.Memory {
	t.Helper()
	list, err := b.store.ListMemories(background, db.MemoryFilter{Owner: owner, Statuses: []memory.Status{memory.Active},
		Limit: memory.MaxPage})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func (b *fixture) memory(t tester, id string) memory.Memory {
	t.Helper()
	m, err := b.store.Memory(background, ada.AppID, id)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// change edits a memory of ada's as a client does.
func (b *fixture) change(t tester, id string, f func(*memory.Memory)) {
	t.Helper()
	err := b.store.InUser(background, ada, func(ctx context.Context, tx db.UserTx) error {
		found, err := tx.Memories(ctx, []string{id})
		if err != nil {
			return err
		}
		f(&found[0])
		found[0].Revision++
		return tx.Update(ctx, found[0])
	})
	if err != nil {
		t.Fatal(err)
	}
}

// put applies evidence for ada and requires a state.
func (b *fixture) put(t tester, e Evidence, want memory.FactState) Outcome {
	t.Helper()
	o, err := b.Put(background, ada, e, "api")
	if err != nil {
		t.Fatal(err)
	}
	if o.Fact.State != want {
		t.Errorf("%s became %s (%s), want %s", e.Value, o.Fact.State, o.Fact.Reason, want)
	}
	return o
}

// inStep requires that a timeline has no overlaps, and that only the fact that is valid now has an active memory.
func (b *fixture) inStep(t tester, line db.Timeline) {
	t.Helper()
	now, want := b.clock.Now(), []string{}
	accepted := b.accepted(t, line)
	for i, f := range accepted {
		if i > 0 && (accepted[i-1].ValidUntil.IsZero() || accepted[i-1].ValidUntil.After(f.ValidFrom)) {
			t.Fatalf("two are valid at %s: %+v and %+v", f.ValidFrom, accepted[i-1], f)
		}
		if f.EndsMemory != f.Valid(now) {
			t.Fatalf("valid now: %t, told: %t: %+v", f.Valid(now), f.EndsMemory, f)
		}
		if f.EndsMemory {
			want = append(want, f.MemoryID)
		}
	}
	got := []string{}
	for _, m := range b.active(t, line.Owner) {
		got = append(got, m.ID)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("active memories %v, want %v", got, want)
	}
}
