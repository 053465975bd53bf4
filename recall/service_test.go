package recall

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/router"
	"hippocampus/vectorstore"
)

func TestRecallTellsEveryPart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.add("Ada keeps bees in the garden", nil, true)
	b.add("Ada reads novels", nil, true)
	a := b.recall(Query{Text: "bees in the garden"})
	best := a.Memories[0]
	if best.Memory.Content != "Ada keeps bees in the garden" || best.Similarity < 0.5 || best.Lexical <= 0 || best.Relevance != 1 ||
		best.Decay != 0.99 || best.Importance != 0.8 || best.Score != 0.5+0.2*0.99+0.3*0.8 || !slices.Equal(best.Sources, []string{nameVectors, nameWords}) {
		t.Errorf("%+v", best)
	}
	if a.Widened || a.Skipped || len(a.Degraded) != 0 || !a.At.Equal(begin) {
		t.Errorf("%+v", a)
	}
}

// What the vector store finds counts only as far as the database confirms it.
func TestHitsAreReadBackFromTheDatabase(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.add("Ada keeps bees", nil, true)
	foreign := b.add("Bob keeps bees", func(m *memory.Memory) { m.Owner = bob }, true)
	gone := b.add("Ada kept wasps", func(m *memory.Memory) { m.Status = memory.Forgotten }, true)
	b.strayHits = []vectorstore.Hit{{ID: foreign.ID, Similarity: 1}, {ID: gone.ID, Similarity: 1}, {ID: memory.NewID(), Similarity: 1}}
	expect(t, b.recall(Query{Text: "Who keeps bees?"}), "Ada keeps bees")
}

func TestOwnWritesAreFoundBeforeTheVectorStoreShowsThem(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.add("Ada keeps bees", nil, false)
	a := b.recall(Query{Text: "insects: bees"})
	if len(a.Memories) != 1 || !slices.Contains(a.Memories[0].Sources, nameOwn) || a.Memories[0].Similarity <= 0 || len(a.Degraded) != 0 {
		t.Errorf("%+v", a)
	}
}

func TestWithoutTheVectorStoreTheDatabaseAnswersTheSame(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 60 {
		b.add(fmt.Sprintf("Ada visited town%d with friend%d", i, i%7), nil, true)
	}
	q := Query{Text: "Who visited town33 with friend5?", NoTouch: true}
	whole := b.recall(q)
	b.vectorsAway = true
	degraded := b.recall(q)
	if !slices.Equal(degraded.Degraded, []string{"vector_store"}) || len(whole.Degraded) != 0 {
		t.Errorf("degraded %v and %v", degraded.Degraded, whole.Degraded)
	}
	if !slices.Equal(contents(whole), contents(degraded)) {
		t.Errorf("recalled %q, without the vector store %q", contents(whole), contents(degraded))
	}
}

// A vector store that was emptied, or lags behind by more than recall reads of
// own writes, is known by what it lacks.
func TestWhatTheVectorStoreLacksIsCompared(t *testing.T) {
	t.Parallel()
	for name, pushed := range map[string]int{"emptied": 0, "lagging": 40} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			var ids []string
			for i := range 160 {
				ids = append(ids, b.add(fmt.Sprintf("Ada visited town%d with friend%d", i, i%7), nil, true).ID)
			}
			b.now = begin.Add(time.Hour)
			q := Query{Text: "Who visited town33 with friend5?", NoTouch: true}
			whole := b.recall(q)
			if err := b.vectors.Delete(t.Context(), ids[pushed:]); err != nil {
				t.Fatal(err)
			}
			if pushed > 0 { // the others wait for their push, more of them than OwnLimit
				if _, err := b.store.Requeue(t.Context(), ids[pushed:], b.now); err != nil {
					t.Fatal(err)
				}
			}
			written := b.add("Ada has just been to the opera", nil, false)
			if err := b.vectors.Insert(t.Context(), []vectorstore.Record{vectorstore.RecordOf(written)}); err != nil {
				t.Fatal(err)
			}
			degraded := b.recall(q)
			if !slices.Equal(degraded.Degraded, []string{"vector_store"}) || len(whole.Degraded) != 0 {
				t.Errorf("degraded %v and %v", degraded.Degraded, whole.Degraded)
			}
			if !slices.Equal(contents(whole), contents(degraded)) {
				t.Errorf("recalled %q, without the vector store %q", contents(whole), contents(degraded))
			}
		})
	}
}

func TestWithoutTheEmbedderWordsDecide(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.add("Ada keeps bees", nil, true)
	b.add("Ada reads novels", nil, true)
	b.embedderAway = true
	a := b.recall(Query{Text: "bees?", MinSimilarity: 0.5})
	expect(t, a, "Ada keeps bees")
	if !slices.Equal(a.Degraded, []string{"embedder"}) || a.Memories[0].Similarity != 0 || a.Memories[0].Relevance != 1 {
		t.Errorf("%+v", a)
	}
}

func TestWithoutTheDatabaseThereIsNoAnswer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_ = b.store.Close()
	if _, err := b.Recall(t.Context(), Query{Owner: ada, Text: "bees", Limit: 10}); !memory.IsKind(err, memory.KindUnavailable) {
		t.Errorf("error %v", err)
	}
}

func TestARouteIsWidenedWhenItLeavesTooLittle(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.add("Ada keeps bees", nil, true)
	b.add("Ada works with bees", func(m *memory.Memory) { m.Domain = memory.Profession }, true)
	b.routed = router.Route{Domains: []memory.Domain{memory.Profession}, Source: "test"}

	narrow := b.recall(Query{Text: "bees", Limit: 1})
	expect(t, narrow, "Ada works with bees")
	wide := b.recall(Query{Text: "bees", Limit: 2})
	expect(t, wide, "Ada keeps bees", "Ada works with bees")
	if narrow.Widened || !wide.Widened {
		t.Errorf("widened %v and %v", narrow.Widened, wide.Widened)
	}
	asked := b.recall(Query{Text: "bees", Domains: []memory.Domain{memory.Profession}})
	expect(t, asked, "Ada works with bees")
	if asked.Widened || asked.Route.Source != "request" {
		t.Errorf("domains of the request: %+v", asked)
	}
	off := b.recall(Query{Text: "bees", Limit: 1, NoRoute: true})
	if len(off.Route.Domains) != 0 || off.Route.Source != "off" {
		t.Errorf("unrouted: %+v", off.Route)
	}
}

func TestSmallTalkIsSkipped(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.add("Ada keeps bees", nil, true)
	b.routed = router.Route{Domains: []memory.Domain{memory.GeneralChat}, Source: "test"}
	if a := b.recall(Query{Text: "hi bees"}); !a.Skipped || len(a.Memories) != 0 || len(b.searches) != 0 {
		t.Errorf("%+v after %d searches", a, len(b.searches))
	}
	if a := b.recall(Query{Text: "hi bees", NoRoute: true}); a.Skipped || len(a.Memories) != 1 {
		t.Errorf("unrouted: %+v", a)
	}
	if a := b.recall(Query{Text: "hi bees", Domains: []memory.Domain{memory.GeneralChat}}); a.Skipped {
		t.Errorf("asked for: %+v", a)
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.add("bees of all", nil, true)
	b.add("bees of the coach", func(m *memory.Memory) { m.AgentID = "coach" }, true)
	b.add("bees of the tutor", func(m *memory.Memory) { m.AgentID = "tutor" }, true)
	b.add("bees in conversation one", func(m *memory.Memory) { m.ConversationID = "one" }, true)
	b.add("bees of old", func(m *memory.Memory) { m.CreatedAt = begin.Add(-1000 * time.Hour) }, true)
	b.add("bees of weight", func(m *memory.Memory) { m.Importance = 1 }, true)
	b.add("bees to keep", func(m *memory.Memory) { m.Type = "task" }, true)
	for name, c := range map[string]struct {
		q    Query
		want []string
	}{
		"agent":             {Query{AgentID: "coach", Types: []memory.Type{"fact"}, Since: begin.Add(-2 * time.Hour), Limit: 10}, []string{"bees of all", "bees of the coach", "bees in conversation one", "bees of weight"}},
		"conversation":      {Query{ConversationID: "one"}, []string{"bees in conversation one"}},
		"until":             {Query{Until: begin.Add(-1000*time.Hour + time.Millisecond)}, []string{"bees of old"}},
		"until is excluded": {Query{Until: begin.Add(-1000 * time.Hour)}, nil},
		"since is included": {Query{Since: begin.Add(-1000 * time.Hour), Until: begin.Add(-999 * time.Hour)}, []string{"bees of old"}},
		"importance":        {Query{MinImportance: 0.9}, []string{"bees of weight"}},
		"type":              {Query{Types: []memory.Type{"task"}}, []string{"bees to keep"}},
		"similarity":        {Query{MinSimilarity: 0.999}, []string{"bees of all"}},
		"another user":      {Query{Owner: bob}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c.q.Text, c.q.NoTouch = "bees", true
			expect(t, b.recall(c.q), c.want...)
		})
	}
}

func TestModesAndWeightsOfTheRequest(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.add("Ada keeps bees", func(m *memory.Memory) { m.Importance = 0.1 }, true)
	b.add("Ada won a prize", func(m *memory.Memory) { m.Importance = 1 }, true)
	if got := contents(b.recall(Query{Text: "keeps bees", NoTouch: true})); got[0] != "Ada keeps bees" {
		t.Errorf("modulated %q", got)
	}
	if got := contents(b.recall(Query{Text: "keeps bees", NoTouch: true, Mode: Additive, Weights: &Weights{Importance: 1}})); got[0] != "Ada won a prize" {
		t.Errorf("importance alone %q", got)
	}
}
