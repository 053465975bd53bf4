package compression

import (
	"context"
	"fmt"
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

func TestCompress_ReplacesMemoriesBySummaries(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	old := b.add(ada, 0, 4, func(i int, m *memory.Memory) {
		m.Importance, m.AgentID = 0.5+float64(i)/10, "coach"
		m.AccessCount = i
		if i > 0 {
			m.Domain = memory.Tasks
		}
	})
	b.chat.Answers(`{"summaries":[{"summary":" Ada swam 10 to 12 lengths. ","sources":[1,2,3]},` +
		`{"summary":"Ada then swam 13 lengths.","sources":[3,4]}]}`)
	r := b.compress()
	if r.Considered != 4 || r.Stopped != "" || len(r.Groups) != 1 || r.Groups[0].Refused != "" ||
		len(r.Groups[0].Summaries) != 2 || !r.At.Equal(begin) {
		t.Fatalf("%+v", r)
	}
	if diff := cmp.Diff(memory.IDs(old), r.Groups[0].Memories); diff != "" {
		t.Error(diff)
	}
	first := b.memory(r.Groups[0].Summaries[0].ID)
	if first.Content != "Ada swam 10 to 12 lengths." || first.Type != memory.TypeSummary || first.Importance != 0.8 ||
		first.Domain != memory.Tasks || first.AgentID != "coach" || first.Status != memory.Active ||
		first.AccessCount != 3 {
		t.Errorf("%+v", first)
	}
	for _, m := range old {
		if is := b.memory(m.ID); is.Status != memory.Consolidated {
			t.Errorf("an original is %s", is.Status)
		}
	}
	events, err := b.store.History(t.Context(), ada.AppID, old[2].ID)
	if err != nil || len(events) != 1 || events[0].Kind != memory.EventConsolidated ||
		events[0].Cause != "compression" ||
		strings.Count(string(events[0].Detail), "-") < 8 { // two ids
		t.Errorf("events %+v, %v", events, err)
	}
	if !b.state().CompressedAt.Equal(begin) || len(b.pusher.Pushed()) != 6 {
		t.Errorf("state %+v, pushed %d", b.state(), len(b.pusher.Pushed()))
	}
	p := b.chat.Prompts()[0]
	if !strings.Contains(p.System, "[hippocampus/compress]") ||
		!strings.Contains(p.User, `"number":4,"said":"2026-01-10, Saturday"`) {
		t.Errorf("prompt %s", p.User)
	}
	if r := b.compress(); len(r.Groups) != 0 || len(b.chat.Prompts()) != 1 {
		t.Errorf("again: %+v", r)
	}
}

// Each group is asked for separately, in its language.
func TestCompress_AsksInTheLanguageOfTheGroup(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	b.add(ada, 0, 3, nil)
	b.add(ada, 1, 3, func(i int, m *memory.Memory) { m.Content = fmt.Sprintf("艾达第%d周去图书馆借书。", i) })
	b.chat.OnPrompt(func(p llm.Prompt) (string, error) {
		if chinese := strings.Contains(p.User, "图书馆"); chinese == strings.Contains(p.User, "swam") ||
			chinese != strings.Contains(p.System, "你负责压缩") {
			t.Errorf("prompt %+v", p)
		}
		return citing(p, "艾达借书。"), nil
	})
	if r := b.compress(); len(r.Groups) != 2 || r.Groups[1].Refused != "" {
		t.Errorf("%+v", r)
	}
}

// Undo restores every memory and its vector, and the memories are not condensed again.
func TestCompress_CanBeUndone(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	old := b.add(ada, 0, 3, nil)
	b.chat.Answers(`{"summaries":[{"summary":"Ada swam for three days.","sources":[1,2,3]}]}`)
	id := b.compress().Groups[0].Summaries[0].ID
	b.pusher.Reset()
	b.clock.Set(begin.Add(time.Hour))
	undone, restored, err := b.derive.Undo(t.Context(), ada.AppID, id)
	if err != nil || undone.Status != memory.Forgotten || len(restored) != 3 {
		t.Fatalf("%+v %+v %v", undone, restored, err)
	}
	for _, m := range old {
		if is := b.memory(m.ID); is.Status != memory.Active || is.Content != m.Content ||
			!slices.Contains(b.pusher.Pushed(), m.ID) {
			t.Errorf("%+v of %v", is, b.pusher.Pushed())
		}
	}
	b.clock.Set(begin.Add(200 * day))
	if r := b.compress(); r.Considered != 0 || len(b.chat.Prompts()) != 1 {
		t.Errorf("again: %+v", r)
	}
}

func TestCompress_LeavesRecentAndUsedMemories(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	for topic, change := range map[int]func(i int, m *memory.Memory){
		0: func(_ int, m *memory.Memory) { m.CreatedAt = begin.Add(-30 * day) },
		1: func(_ int, m *memory.Memory) { m.AccessCount = 5 },
		2: func(_ int, m *memory.Memory) { m.Pinned = true },
		3: func(_ int, m *memory.Memory) { m.Type = memory.TypeReflection },
		4: func(_ int, m *memory.Memory) { m.Type, m.ConversationID = memory.TypeSummary, "c" },
		5: func(_ int, m *memory.Memory) { m.Status = memory.Forgotten },
		6: func(_ int, m *memory.Memory) { m.Importance = 1 },
		9: func(i int, m *memory.Memory) { m.AgentID = fmt.Sprint(i) },
	} {
		b.add(ada, topic, 3, change)
	}
	before := b.snapshot()
	if r := b.compress(); r.Considered != 6 || len(r.Groups) != 0 {
		t.Errorf("%+v", r)
	}
	if diff := cmp.Diff(before, b.snapshot()); diff != "" {
		t.Error(diff)
	}
	b.add(ada, 10, 3, func(i int, m *memory.Memory) { m.CreatedAt, m.AccessCount = begin.Add(-30*day-1000), 4 })
	r, err := b.Compress(t.Context(), ada, true)
	if err != nil || len(r.Groups) != 1 || len(r.Groups[0].Memories) != 3 || len(b.chat.Prompts()) != 0 {
		t.Errorf("a dry run: %+v, %v", r, err)
	}
}

// A run reads in pages, the oldest memories first, up to its limit.
func TestCompress_LimitsOneRun(t *testing.T) {
	t.Parallel()
	set := defaults
	set.MaxMemories = 250
	b := newFixture(t, set)
	b.add(ada, 0, 260, nil)
	r, err := b.Compress(t.Context(), ada, true)
	if err != nil || r.Considered != 250 || len(r.Groups) != 5 {
		t.Fatalf("%d considered, %d groups, %v", r.Considered, len(r.Groups), err)
	}
	for i, g := range r.Groups {
		if want := min(60, 250-60*i); len(g.Memories) != want {
			t.Errorf("group %d has %d memories, want %d", i, len(g.Memories), want)
		}
	}
}

// A refused group is reported and does not stop the others.
func TestCompress_ContinuesAfterARefusedGroup(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	b.add(ada, 0, 3, nil)
	stays := b.add(ada, 1, 3, nil)
	b.add(ada, 2, 3, nil)
	b.chat.OnPrompt(func(p llm.Prompt) (string, error) {
		if strings.Contains(p.User, "topic 1") {
			return `{"summaries":[{"summary":"Ada swam.","sources":[1,2,4]}]}`, nil
		}
		return citing(p, "Ada swam."), nil
	})
	r := b.compress()
	if len(r.Groups) != 3 || r.Groups[0].Refused != "" || !strings.Contains(r.Groups[1].Refused, "the number 4 of 3") ||
		r.Groups[2].Refused != "" {
		t.Errorf("%+v", r)
	}
	if b.memory(stays[0].ID).Status != memory.Active {
		t.Error("an original of the refused group is gone")
	}
	b.chat.OnPrompt(func(p llm.Prompt) (string, error) { return citing(p, "Ada swam."), nil })
	if r := b.compress(); len(r.Groups) != 1 || r.Groups[0].Refused != "" {
		t.Errorf("the next run: %+v", r)
	}
}

func TestCompress_ChangesNothingIfItFails(t *testing.T) {
	t.Parallel()
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
			b.add(ada, 0, 3, nil)
			b.chat.OnPrompt(func(p llm.Prompt) (string, error) { return citing(p, "Ada swam."), nil })
			test.prepare(b)
			before := b.snapshot()
			if _, err := b.Compress(t.Context(), ada, false); !memory.IsKind(err, test.kind) {
				t.Errorf("%v", err)
			}
			if diff := cmp.Diff(before, b.snapshot()); diff != "" || len(b.pusher.Pushed()) != 0 {
				t.Errorf("changed: %s", diff)
			}
		})
	}
}

// Groups that were condensed before a part became unavailable stay condensed, and the result says so.
func TestCompress_StopsIfThePartsBecomeUnavailable(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	b.add(ada, 0, 3, nil)
	b.add(ada, 1, 3, nil)
	b.chat.OnPrompt(func(p llm.Prompt) (string, error) {
		if strings.Contains(p.User, "topic 1") {
			return "", memory.Errorf(memory.KindUnavailable, "http://10.0.0.7 is unavailable")
		}
		return citing(p, "Ada swam."), nil
	})
	if r := b.compress(); len(r.Groups) != 1 || r.Stopped == "" || strings.Contains(r.Stopped, "10.0.0.7") {
		t.Errorf("%+v", r)
	}
}

// A memory that changes or is pinned while the model answers stays active.
func TestCompress_RefusesChangedMemories(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*memory.Memory){
		"content": func(m *memory.Memory) { m.Content, m.Revision = "Ada swims no more.", 2 },
		"pinned":  func(m *memory.Memory) { m.Pinned = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, defaults)
			old := b.add(ada, 0, 3, nil)
			var before []any
			b.chat.OnPrompt(func(p llm.Prompt) (string, error) {
				b.tx(ada, func(ctx context.Context, tx db.UserTx) error {
					rows, err := tx.Memories(ctx, []string{old[1].ID})
					if err != nil {
						return err
					}
					change(&rows[0])
					return tx.Update(ctx, rows[0])
				})
				before = b.snapshot()
				return citing(p, "Ada swam."), nil
			})
			if r := b.compress(); len(r.Groups) != 1 || !strings.Contains(r.Groups[0].Refused, "has changed") {
				t.Errorf("%+v", r)
			}
			if diff := cmp.Diff(before, b.snapshot()); diff != "" {
				t.Errorf("changed: %s", diff)
			}
		})
	}
}

// If several replicas compress for one user, one of them condenses each group.
func TestCompress_RunsOnceAtATime(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	b.add(ada, 0, 3, nil)
	b.add(ada, 1, 3, nil)
	const replicas = 6
	var thinking sync.WaitGroup
	thinking.Add(replicas)
	b.chat.OnPrompt(func(p llm.Prompt) (string, error) {
		if strings.Contains(p.User, "topic 0") {
			thinking.Done()
			thinking.Wait() // all have read the same
		}
		return citing(p, "Ada swam."), nil
	})
	type outcome struct {
		Result
		error
	}
	outcomes := make(chan outcome, replicas)
	for range replicas {
		go func() {
			r, err := New(b.Parts, b.set).Compress(t.Context(), ada, false)
			outcomes <- outcome{r, err}
		}()
	}
	done := 0
	for range replicas {
		switch o := <-outcomes; {
		case o.error == nil && len(o.Groups) == 2 && o.Stopped == "":
			done++
		case !memory.IsKind(o.error, memory.KindConflict):
			t.Errorf("%+v", o)
		}
	}
	list, err := b.store.ListMemories(t.Context(), db.MemoryFilter{Owner: ada, Types: []memory.Type{memory.TypeSummary},
		Limit: 10})
	if err != nil || done != 1 || len(list) != 2 {
		t.Errorf("%d runs succeeded and left %d summaries, %v", done, len(list), err)
	}
}

func TestCompressAll_CompressesForEveryUser(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	b.chat.OnPrompt(func(p llm.Prompt) (string, error) {
		if strings.Contains(p.User, "topic 3") {
			return "nonsense", nil
		}
		return citing(p, "Ada swam."), nil
	})
	b.add(ada, 0, 3, nil)
	b.add(ada, 3, 3, nil)
	b.add(memory.Owner{AppID: "app", UserID: "bob"}, 0, 4, nil)
	b.add(memory.Owner{AppID: "other", UserID: "ada"}, 0, 1, nil)
	totals, err := b.CompressAll(t.Context())
	if want := (Totals{Users: 3, Considered: 11, Groups: 3, Refused: 1, Summaries: 2, Retired: 7}); err != nil ||
		totals != want {
		t.Errorf("%+v, %v; want %+v", totals, err, want)
	}
	b.chat.OnPrompt(func(llm.Prompt) (string, error) {
		return "", memory.Errorf(memory.KindUnavailable, "it is unavailable")
	})
	if totals, err := b.CompressAll(t.Context()); !memory.IsKind(err, memory.KindUnavailable) || totals.Users != 1 {
		t.Errorf("%+v, %v", totals, err)
	}
	b.Chat = nil
	if totals, err := b.CompressAll(t.Context()); err != nil || totals != (Totals{}) {
		t.Errorf("without a model: %+v, %v", totals, err)
	}
}
