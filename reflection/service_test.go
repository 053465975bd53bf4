package reflection

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

func TestReflect_StoresInsightsAndRetiresSources(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	facts := b.addFacts(4)
	pinned := b.add(func(m *memory.Memory) { m.Pinned = true }, "Ada is allergic to chlorine.")[0]
	b.chat.Answers("Here:\n" +
		`{"insights":[{"insight":" Ada swims every day, a little more each time. ","sources":[1,2,3,5]}],` +
		`"retire":[1,2,3,5]}`)
	due, why, err := b.Due(t.Context(), ada)
	if err != nil || !due {
		t.Fatalf("not due: %s, %v", why, err)
	}
	result := b.reflect(false)
	if result.Facts != 5 || result.Skipped != "" || len(result.Insights) != 1 {
		t.Fatalf("%+v", result)
	}
	if diff := cmp.Diff(ids(facts[:3]), result.Retired); diff != "" {
		t.Errorf("retired: %s", diff)
	}
	insight := b.memory(result.Insights[0].ID)
	if insight.Type != memory.TypeReflection || insight.Importance != 0.9 || insight.Status != memory.Active ||
		insight.Content != "Ada swims every day, a little more each time." || insight.Domain != memory.Lifestyle {
		t.Errorf("insight %+v", insight)
	}
	for i, m := range append(facts, pinned) {
		want := memory.Active
		if i < 3 {
			want = memory.Consolidated
		}
		if got := b.memory(m.ID).Status; got != want {
			t.Errorf("fact %d is %s, want %s", i+1, got, want)
		}
	}
	sources, err := b.store.Sources(t.Context(), ada, []string{insight.ID})
	if err != nil || len(sources[insight.ID]) != 4 {
		t.Errorf("sources %v, %v", sources, err)
	}
	events, err := b.store.History(t.Context(), ada.AppID, facts[0].ID)
	if err != nil || len(events) != 1 || events[0].Kind != memory.EventConsolidated ||
		events[0].Cause != "reflection" ||
		!strings.Contains(string(events[0].Detail), insight.ID) ||
		!strings.Contains(string(events[0].Detail), `"status":"consolidated"`) {
		t.Errorf("events %+v, %v", events, err)
	}
	if want := append([]string{insight.ID}, ids(facts[:3])...); !slices.Equal(b.pusher.Pushed(), want) {
		t.Errorf("pushed %v, want %v", b.pusher.Pushed(), want)
	}

	p := b.chat.Prompts()[0]
	if !strings.Contains(p.System, "[hippocampus/reflect]") || !strings.Contains(p.User, `"number":5`) ||
		!strings.Contains(p.User, "allergic") {
		t.Errorf("prompt %q", p.User)
	}
	// The cooldown is in the database, so another process keeps it also.
	other := New(b.Parts, defaults)
	if due, why, err := other.Due(t.Context(), ada); due || err != nil ||
		!strings.Contains(why, "the last reflection was at 2026-03-01T12:00:") {
		t.Errorf("due again: %t %s %v", due, why, err)
	}
	if r := b.reflect(false); r.Skipped == "" || len(b.chat.Prompts()) != 1 {
		t.Errorf("again: %+v", r)
	}
}

func TestReflect_RetiresNamedSourcesOnly(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		set    func(*Settings)
		retire string
		want   int
	}{
		"two":      {func(*Settings) {}, `,"retire":[3,1]`, 2},
		"none":     {func(*Settings) {}, `,"retire":[]`, 0},
		"null":     {func(*Settings) {}, `,"retire":null`, 0},
		"left out": {func(*Settings) {}, ``, 0},
		"setting":  {func(s *Settings) { s.KeepSources = true }, `,"retire":[1,2]`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := defaults
			test.set(&set)
			b := newFixture(t, set)
			b.addFacts(5)
			b.chat.Answers(`{"insights":[{"insight":"Ada swims.","sources":[1,2]},` +
				`{"insight":"Ada swims more.","sources":[2,3],"domain":"tasks_and_schedules"}]` + test.retire + `}`)
			r := b.reflect(false)
			if len(r.Insights) != 2 || len(r.Retired) != test.want || r.Insights[1].Domain != memory.Tasks {
				t.Errorf("%+v", r)
			}
			b.clock.Advance(2 * time.Hour)
			if due, why, err := b.Due(t.Context(), ada); due || err != nil || !strings.HasPrefix(why, "0 facts") {
				t.Errorf("what was considered counts again: %q, %v", why, err)
			}
		})
	}
}

func TestReflect_AcceptsNoInsights(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	facts := b.addFacts(5)
	if r := b.reflect(false); r.Skipped != "" || r.Facts != 5 || len(r.Insights)+len(r.Retired) != 0 {
		t.Errorf("%+v", r)
	}
	if b.memory(facts[0].ID).Status != memory.Active {
		t.Error("a fact retired")
	}
	b.clock.Advance(2 * time.Hour)
	if due, _, err := b.Due(t.Context(), ada); due || err != nil {
		t.Errorf("due again with nothing new, %v", err)
	}
}

func TestDue_RequiresAllConditions(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	due := func(want string) {
		t.Helper()
		is, why, err := b.Due(t.Context(), ada)
		if err != nil || is != (want == "") || !strings.Contains(why, want) {
			t.Errorf("due %t %q, %v; want %q", is, why, err, want)
		}
	}
	due("0 facts")
	b.addFacts(4)
	due("adds up to 3.20")
	if r := b.reflect(false); r.Skipped == "" || len(b.chat.Prompts()) != 0 {
		t.Errorf("%+v", r)
	}
	b.addFacts(1)
	due("") // 5 * 0.8 in binary is not quite 4
	b.reflect(false)
	b.addFacts(5)
	due("the last reflection")
	if r := b.reflect(true); r.Skipped != "" || r.Facts != 5 {
		t.Errorf("forced: %+v", r)
	}
	b.clock.Advance(time.Hour)
	due("0 facts")
	b.addFacts(1)
	if r := b.reflect(true); !strings.Contains(r.Skipped, "1 facts") {
		t.Errorf("forced with one fact: %+v", r)
	}
}

func TestReflect_ChangesNothingIfItFails(t *testing.T) {
	t.Parallel()
	const good = `{"insights":[{"insight":"Ada swims.","sources":[1,2]}],"retire":[1,2]}`
	away := memory.Errorf(memory.KindUnavailable, "it is unavailable")
	for name, test := range map[string]struct {
		prepare func(b *fixture)
		kind    memory.Kind
	}{
		"no model": {func(b *fixture) { b.Chat = nil }, memory.KindConflict},
		"model away": {func(b *fixture) {
			b.chat.OnPrompt(func(llm.Prompt) (string, error) {
				return "", away
			})
		}, memory.KindUnavailable},
		"embedder away": {func(b *fixture) { b.embedder.FailWith(away) }, memory.KindUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, defaults)
			b.addFacts(5)
			b.chat.Answers(good)
			test.prepare(b)
			before := b.snapshot()
			if _, err := b.Reflect(t.Context(), ada, b.Rule()); !memory.IsKind(err, test.kind) {
				t.Errorf("%v", err)
			}
			if diff := cmp.Diff(before, b.snapshot()); diff != "" || len(b.pusher.Pushed()) != 0 {
				t.Errorf("changed: %s", diff)
			}
		})
	}
}

// A source that changes while the model answers makes the reflection fail.
func TestReflect_RefusesChangedSources(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	facts := b.addFacts(5)
	var before []any
	b.chat.OnPrompt(func(llm.Prompt) (string, error) {
		err := b.store.InUser(t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
			rows, err := tx.Memories(ctx, []string{facts[1].ID})
			if err != nil {
				return err
			}
			rows[0].Content, rows[0].Revision = "Ada swims no more.", 2
			return tx.Update(ctx, rows[0])
		})
		before = b.snapshot()
		return `{"insights":[{"insight":"Ada swims.","sources":[1,2]}],"retire":[1,2]}`, err
	})
	if _, err := b.Reflect(t.Context(), ada, b.Rule()); !memory.IsKind(err, memory.KindConflict) {
		t.Errorf("%v", err)
	}
	if diff := cmp.Diff(before, b.snapshot()); diff != "" {
		t.Errorf("changed: %s", diff)
	}
}

// If several replicas reflect for one user, one of them succeeds.
func TestReflect_RunsOnceAtATime(t *testing.T) {
	t.Parallel()
	keeping := defaults
	keeping.KeepSources = true
	b := newFixture(t, keeping)
	b.addFacts(5)
	const replicas = 8
	var thinking sync.WaitGroup
	thinking.Add(replicas)
	b.chat.OnPrompt(func(llm.Prompt) (string, error) {
		thinking.Done()
		thinking.Wait() // all have read the same
		return `{"insights":[{"insight":"Ada swims.","sources":[1,2]}],"retire":[1,2]}`, nil
	})
	results := make(chan error, replicas)
	for range replicas {
		go func() {
			_, err := New(b.Parts, b.set).Reflect(t.Context(), ada, Always)
			results <- err
		}()
	}
	done := 0
	for range replicas {
		switch err := <-results; {
		case err == nil:
			done++
		case !memory.IsKind(err, memory.KindConflict):
			t.Error(err)
		}
	}
	list, err := b.store.ListMemories(t.Context(), db.MemoryFilter{Owner: ada,
		Types: []memory.Type{memory.TypeReflection}, Limit: 10})
	if err != nil || done != 1 || len(list) != 1 {
		t.Errorf("%d reflections succeeded and left %d insights, %v", done, len(list), err)
	}
}

// Facts that are private to an agent are condensed separately, and stay private.
func TestReflect_KeepsAgentsApart(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	b.add(func(m *memory.Memory) {
		m.AgentID = "coach"
	}, "Ada swims on Mondays.", "Ada swims on Fridays.", "Ada swims at dawn.")
	b.add(nil, "艾达每周一都去图书馆借书。", "艾达每周五都去图书馆还书。")
	b.add(func(m *memory.Memory) { m.AgentID = "lone" }, "Ada told the third agent this alone.")
	b.chat.OnPrompt(func(p llm.Prompt) (string, error) {
		if strings.Contains(p.User, "swims") == strings.Contains(p.User, "图书馆") || strings.Contains(p.User, "alone") {
			return "", errors.New("agents are mixed: " + p.User)
		}
		if strings.Contains(p.User, "图书馆") != strings.Contains(p.System, "你负责") {
			return "", errors.New("the prompt is in another language than its facts")
		}
		insight := "Ada has habits."
		if strings.Contains(p.User, "图书馆") {
			insight = "艾达有固定的习惯。"
		}
		return `{"insights":[{"insight":"` + insight + `","sources":[1,2]}],"retire":[1,2]}`, nil
	})
	r := b.reflect(false)
	agents := []string{}
	for _, m := range r.Insights {
		agents = append(agents, m.AgentID)
	}
	if !slices.Equal(agents, []string{"", "coach"}) || len(r.Retired) != 4 {
		t.Errorf("agents %q, %d retired", agents, len(r.Retired))
	}
}
