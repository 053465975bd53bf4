package skills

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/db/postgres"
	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/memory"
	"hippocampus/tests/apptest"
)

var (
	ada  = memory.Owner{AppID: "app", UserID: "ada"}
	noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// fixture is a service on a real database.
type fixture struct {
	*Service
	t        *testing.T
	store    db.Store
	embedder *apptest.Embedder
	pusher   *apptest.Pusher
	written  atomic.Int64
}

func newFixture(t *testing.T, store db.Store) *fixture {
	clock := apptest.NewClock(noon)
	b := &fixture{t: t, store: store, embedder: apptest.HashedEmbedder(16), pusher: apptest.NewPusher(clock)}
	b.Service = New(Parts{
		Records: store, Embedder: b.embedder, Pusher: b.pusher, Guess: func(string) memory.Domain { return memory.Tasks },
		OnChanged: func(memory.Owner) { b.written.Add(1) },
		OnAdded:   func(context.Context, memory.Owner, int) {}, Now: clock.Now,
	})
	return b
}

func newSQLite(t *testing.T) *fixture {
	t.Helper()
	return newFixture(t, apptest.SQLite(t))
}

// tell records an outcome of the workflow w of the skill s.
func (b *fixture) tell(success bool) memory.Workflow {
	b.t.Helper()
	r, err := b.Record(b.t.Context(), ada, Outcome{Skill: "s", Workflow: "w", Success: success}, "test")
	if err != nil {
		b.t.Fatal(err)
	}
	return r.Workflow
}

func (b *fixture) memory(id string) memory.Memory {
	b.t.Helper()
	m, err := b.store.Memory(b.t.Context(), ada.AppID, id)
	if err != nil {
		b.t.Fatal(err)
	}
	return m
}

// The expected success rates, computed by hand: (successes + 1) / (outcomes + 2).
func TestRecord_SetsImportanceByTheRuleOfSuccession(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		successes, failures int
		want                float64
	}{{1, 0, 0.6667}, {0, 1, 0.3333}, {1, 1, 0.5}, {2, 1, 0.6}, {9, 1, 0.8333}, {3, 0, 0.8}, {0, 8, 0.1}, {998, 0,
		0.999}, {1, 5, 0.25}, {4, 1, 0.7143}} {
		w := memory.Workflow{Successes: c.successes, Failures: c.failures}
		if got := w.Importance(); got != c.want {
			t.Errorf("%d of %d: %g, want %g", c.successes, c.successes+c.failures, got, c.want)
		}
	}
}

// The first success creates the memory and each outcome updates it. If the memory is no longer active, the next
// success creates another one.
func TestRecord_UpdatesTheMemory(t *testing.T) {
	t.Parallel()
	b := newSQLite(t)
	if w := b.tell(false); w.MemoryID != "" || b.embedder.Calls() != 0 || b.written.Load() != 0 {
		t.Errorf("%+v, embedded %d times, written %d", w, b.embedder.Calls(), b.written.Load())
	}
	w := b.tell(true)
	if m := b.memory(w.MemoryID); m.Importance != 0.5 || m.Content != "s: w" || len(b.pusher.Pushed()) != 1 ||
		b.written.Load() != 1 {
		t.Errorf("%+v, %d pushed, %d written", m, len(b.pusher.Pushed()), b.written.Load())
	}
	b.tell(true)
	if after := b.tell(false); after.MemoryID != w.MemoryID || b.embedder.Calls() != 1 || len(b.pusher.Pushed()) != 1 {
		t.Errorf("%+v, embedded %d times", after, b.embedder.Calls())
	}
	events, err := b.store.History(t.Context(), ada.AppID, w.MemoryID)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, e := range events {
		told = append(told, string(e.Kind)+string(e.Detail))
		if !strings.Contains(string(e.Detail), w.ID) || e.Cause != "test" {
			t.Errorf("%+v", e)
		}
	}
	want := fmt.Sprintf(`created{"workflow":%[1]q} `+
		`updated{"from":{"importance":0.5},"to":{"importance":0.6},"workflow":%[1]q} `+
		`updated{"from":{"importance":0.6},"to":{"importance":0.5},"workflow":%[1]q}`, w.ID)
	if got := strings.Join(told, " "); got != want {
		t.Errorf("history\n%s, want\n%s", got, want)
	}

	err = b.store.InUser(t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
		found, err := tx.Memories(ctx, []string{w.MemoryID})
		if err != nil {
			return err
		}
		found[0].Status = memory.Forgotten
		found[0].Revision++
		return tx.Update(ctx, found[0])
	})
	if err != nil {
		t.Fatal(err)
	}
	if after := b.tell(false); after.MemoryID != w.MemoryID || b.memory(w.MemoryID).Importance != 0.5 {
		t.Errorf("a failure changes what is forgotten: %+v", after)
	}
	again := b.tell(true)
	if m := b.memory(again.MemoryID); again.MemoryID == w.MemoryID || m.Importance != 0.5 || m.Status != memory.Active {
		t.Errorf("%+v, %+v", again, m)
	}
}

// The notes of the latest outcomes are kept, in whatever order the outcomes are reported.
func TestRecord_KeepsTheLatestNotes(t *testing.T) {
	t.Parallel()
	b := newSQLite(t)
	var w memory.Workflow
	for _, hour := range []int{4, 6, 1, 5, 2, 3, 0} {
		r, err := b.Record(t.Context(), ada, Outcome{Skill: "s", Workflow: "w", Note: fmt.Sprint(hour),
			At: noon.Add(time.Duration(hour-10) * time.Hour)}, "test")
		if err != nil {
			t.Fatal(err)
		}
		w = r.Workflow
	}
	var kept string
	for _, n := range w.Notes {
		kept += n.Note
	}
	if kept != "23456" || !w.LastAt.Equal(noon.Add(-4*time.Hour)) {
		t.Errorf("kept %s, the last of %s", kept, w.LastAt)
	}
}

// Without an embedder a workflow's first success is refused and not counted.
func TestRecord_WithoutAnEmbedder(t *testing.T) {
	t.Parallel()
	b := newSQLite(t)
	away := errors.New("the embedder is unavailable")
	b.embedder.FailWith(away)
	o := Outcome{ID: "1", Skill: "s", Workflow: "w", Success: true}
	if _, err := b.Record(t.Context(), ada, o, "test"); !errors.Is(err, away) {
		t.Error(err)
	}
	b.embedder.FailWith(nil)
	if r, err := b.Record(t.Context(), ada, o, "test"); err != nil || !r.Counted || r.Workflow.Successes != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	b.embedder.FailWith(away)
	if w := b.tell(true); w.Successes != 2 {
		t.Errorf("%+v", w)
	}
}

func TestRecord_RefusesInvalidOutcomes(t *testing.T) {
	t.Parallel()
	b := newSQLite(t)
	for want, o := range map[string]Outcome{
		"skill":    {Skill: strings.Repeat("x", memory.MaxSkillName+1), Workflow: "w"},
		"workflow": {Skill: "界界", Workflow: strings.Repeat("x", memory.MaxWorkflow+1)},
		"note":     {Skill: "s", Workflow: "w", Note: "\x00"},
		"agent_id": {Skill: "s", Workflow: "w", AgentID: "\n"},
		"id":       {Skill: "s", Workflow: "w", ID: "\n"},
	} {
		_, err := b.Record(t.Context(), ada, o, "test")
		var refused *memory.Error
		if !errors.As(err, &refused) || refused.Kind != memory.KindInvalid || len(refused.Fields) != 1 ||
			refused.Fields[0].Path != want {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := b.Record(t.Context(), ada, Outcome{
		Skill: strings.Repeat("界", memory.MaxSkillName), Workflow: strings.Repeat("x", memory.MaxWorkflow), Success: true,
	}, "test"); err != nil {
		t.Error(err)
	}
}

// Two processes count the same outcomes concurrently, each outcome once.
func TestRecord_CountsConcurrentOutcomesOnce(t *testing.T) {
	t.Parallel()
	stores := map[string]func(t *testing.T) (a, b db.Store){
		"sqlite": func(t *testing.T) (a, b db.Store) {
			s := newSQLite(t).store // one process has it
			return s, s
		},
		"postgres": func(t *testing.T) (a, b db.Store) {
			url := postgrestest.URL(t)
			first, err := postgres.Open(t.Context(), postgres.Options{URL: url})
			a = apptest.Migrated(t, first, err)
			second, err := postgres.Open(t.Context(), postgres.Options{URL: url})
			return a, apptest.Migrated(t, second, err)
		},
	}
	for name, two := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, other := two(t)
			services := []*fixture{newFixture(t, one), newFixture(t, other)}
			var group sync.WaitGroup
			for _, s := range services {
				for n := range 12 {
					group.Go(func() {
						o := Outcome{ID: fmt.Sprint(n), Skill: "s", Workflow: "w", Success: n%3 > 0}
						if _, err := s.Record(t.Context(), ada, o, "test"); err != nil {
							t.Error(err)
						}
					})
				}
			}
			group.Wait()
			found, err := one.Workflows(t.Context(), db.SkillFilter{Owner: ada, Limit: 10}, "s")
			if err != nil || len(found) != 1 || found[0].Successes != 8 || found[0].Failures != 4 {
				t.Fatalf("%+v, %v", found, err)
			}
			list, err := one.ListMemories(t.Context(), db.MemoryFilter{Owner: ada, Limit: 10})
			if err != nil || len(list) != 1 || list[0].Importance != 0.6429 || list[0].ID != found[0].MemoryID {
				t.Errorf("%+v, %v", list, err)
			}
		})
	}
}
