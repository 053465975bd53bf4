package recall

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/router"
	"hippocampus/vectorstore"
)

func TestRecall_ReturnsEveryPartOfTheScore(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("Ada keeps bees in the garden", nil, true)
	f.add("Ada reads novels", nil, true)
	a := f.recall(Query{Text: "bees in the garden"})
	best := a.Memories[0]
	if best.Memory.Content != "Ada keeps bees in the garden" || best.Similarity < 0.5 || best.Lexical <= 0 ||
		best.Relevance != 1 || best.Decay != 0.99 || best.Importance != 0.8 ||
		best.Score != 0.5+0.2*0.99+0.3*0.8 || !slices.Equal(best.Sources, []string{nameVectors, nameWords}) {
		t.Errorf("%+v", best)
	}
	if a.Skipped || len(a.Degraded) != 0 || !a.At.Equal(begin) {
		t.Errorf("%+v", a)
	}
}

func TestRecall_DropsHitsThatTheDatabaseDoesNotConfirm(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("Ada keeps bees", nil, true)
	foreign := f.add("Bob keeps bees", func(m *memory.Memory) { m.Owner = bob }, true)
	gone := f.add("Ada kept wasps", func(m *memory.Memory) { m.Status = memory.Forgotten }, true)
	for _, id := range []string{foreign.ID, gone.ID, memory.NewID()} {
		f.strayHits = append(f.strayHits, vectorstore.Hit{ID: id, Similarity: 1})
	}
	expect(t, f.recall(Query{Text: "Who keeps bees?"}), "Ada keeps bees")
}

func TestRecall_FindsOwnWritesBeforeTheVectorStoreShowsThem(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("Ada keeps bees", nil, false)
	a := f.recall(Query{Text: "insects: bees"})
	if len(a.Memories) != 1 || !slices.Contains(a.Memories[0].Sources, nameOwn) ||
		a.Memories[0].Similarity <= 0 || len(a.Degraded) != 0 {
		t.Errorf("%+v", a)
	}
}

func TestRecall_AnswersTheSameWithoutTheVectorStore(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for i := range 60 {
		f.add(fmt.Sprintf("Ada visited town%d with friend%d", i, i%7), nil, true)
	}
	q := Query{Text: "Who visited town33 with friend5?", NoTouch: true}
	whole := f.recall(q)
	f.vectorsDown = true
	degraded := f.recall(q)
	if !slices.Equal(degraded.Degraded, []string{"vector_store"}) || len(whole.Degraded) != 0 {
		t.Errorf("degraded %v and %v", degraded.Degraded, whole.Degraded)
	}
	if !slices.Equal(contents(whole), contents(degraded)) {
		t.Errorf("recalled %q, without the vector store %q", contents(whole), contents(degraded))
	}
}

// Recall recognises a vector store that was emptied, or lags behind by more than
// OwnLimit writes, by the memories that it lacks.
func TestRecall_ComparesInTheDatabaseIfTheVectorStoreLacksMemories(t *testing.T) {
	t.Parallel()
	for name, pushed := range map[string]int{"emptied": 0, "lagging": 40} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			var ids []string
			for i := range 160 {
				ids = append(ids, f.add(fmt.Sprintf("Ada visited town%d with friend%d", i, i%7), nil, true).ID)
			}
			f.now = begin.Add(time.Hour)
			q := Query{Text: "Who visited town33 with friend5?", NoTouch: true}
			whole := f.recall(q)
			if err := f.vectors.Delete(t.Context(), ids[pushed:]); err != nil {
				t.Fatal(err)
			}
			if pushed > 0 { // more memories than OwnLimit wait for their push
				if _, err := f.store.Requeue(t.Context(), ids[pushed:], f.now); err != nil {
					t.Fatal(err)
				}
			}
			written := f.add("Ada has just been to the opera", nil, false)
			if err := f.vectors.Insert(t.Context(), []vectorstore.Record{vectorstore.RecordOf(written)}); err != nil {
				t.Fatal(err)
			}
			degraded := f.recall(q)
			if !slices.Equal(degraded.Degraded, []string{"vector_store"}) || len(whole.Degraded) != 0 {
				t.Errorf("degraded %v and %v", degraded.Degraded, whole.Degraded)
			}
			if !slices.Equal(contents(whole), contents(degraded)) {
				t.Errorf("recalled %q, without the vector store %q", contents(whole), contents(degraded))
			}
		})
	}
}

func TestRecall_RanksByWordsWithoutTheEmbedder(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("Ada keeps bees", nil, true)
	f.add("Ada reads novels", nil, true)
	f.embedderDown = true
	a := f.recall(Query{Text: "bees?", MinSimilarity: 0.5})
	expect(t, a, "Ada keeps bees")
	if !slices.Equal(a.Degraded, []string{"embedder"}) || a.Memories[0].Similarity != 0 || a.Memories[0].Relevance != 1 {
		t.Errorf("%+v", a)
	}
}

func TestRecall_FailsWithoutTheDatabase(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_ = f.store.Close()
	_, err := f.Recall(t.Context(), Query{Owner: ada, Text: "bees", Limit: 10})
	if !memory.IsKind(err, memory.KindUnavailable) {
		t.Errorf("error %v", err)
	}
}

func TestRecall_RouteLiftsAndExcludesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("Ada keeps bees", nil, true)
	f.add("Ada works with bees", func(m *memory.Memory) { m.Domain = memory.Profession }, true)
	f.add("Ada lives beside a river", nil, true)
	query := Query{Text: "bees", NoTouch: true}
	off := f.recall(Query{Text: query.Text, NoTouch: true, NoRoute: true})
	if len(off.Memories) != 3 || len(off.Route.Domains) != 0 || off.Route.Source != "off" {
		t.Errorf("unrouted: %+v", off)
	}

	f.routed = router.Route{Domains: []memory.Domain{memory.Profession}, Source: "test"}
	routed := f.recall(query)
	if len(routed.Memories) != len(off.Memories) {
		t.Errorf("the route excludes memories: %+v", routed.Memories)
	}
	for _, m := range routed.Memories {
		want := 0.0
		if m.Memory.Domain == memory.Profession {
			want = ranking.Cues.Route
		}
		if m.Routed != want {
			t.Errorf("%q is lifted by %v, want %v", m.Memory.Content, m.Routed, want)
		}
	}

	asked := f.recall(Query{Text: query.Text, NoTouch: true, Domains: []memory.Domain{memory.Profession}})
	expect(t, asked, "Ada works with bees")
	if asked.Route.Source != "request" || asked.Memories[0].Routed != 0 {
		t.Errorf("domains of the request: %+v", asked)
	}
}

func TestRecall_SkipsSmallTalk(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("Ada keeps bees", nil, true)
	f.routed = router.Route{Domains: []memory.Domain{memory.GeneralChat}, Source: "test"}
	if a := f.recall(Query{Text: "hi bees"}); !a.Skipped || len(a.Memories) != 0 || len(f.searches) != 0 {
		t.Errorf("%+v after %d searches", a, len(f.searches))
	}
	if a := f.recall(Query{Text: "hi bees", NoRoute: true}); a.Skipped || len(a.Memories) != 1 {
		t.Errorf("unrouted: %+v", a)
	}
	if a := f.recall(Query{Text: "hi bees", Domains: []memory.Domain{memory.GeneralChat}}); a.Skipped {
		t.Errorf("in a domain of the request: %+v", a)
	}
}

func TestRecall_Filters(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("bees of all", nil, true)
	f.add("bees of the coach", func(m *memory.Memory) { m.AgentID = "coach" }, true)
	f.add("bees of the tutor", func(m *memory.Memory) { m.AgentID = "tutor" }, true)
	f.add("bees in conversation one", func(m *memory.Memory) { m.ConversationID = "one" }, true)
	f.add("bees of old", func(m *memory.Memory) { m.CreatedAt = begin.Add(-1000 * time.Hour) }, true)
	f.add("bees of weight", func(m *memory.Memory) { m.Importance = 1 }, true)
	f.add("bees to keep", func(m *memory.Memory) { m.Type = "task" }, true)
	for name, c := range map[string]struct {
		q    Query
		want []string
	}{
		"agent": {
			Query{AgentID: "coach", Types: []memory.Type{"fact"}, Since: begin.Add(-2 * time.Hour), Limit: 10},
			[]string{"bees of all", "bees of the coach", "bees in conversation one", "bees of weight"},
		},
		"conversation":      {Query{ConversationID: "one"}, []string{"bees in conversation one"}},
		"until":             {Query{Until: begin.Add(-1000*time.Hour + time.Millisecond)}, []string{"bees of old"}},
		"until is excluded": {Query{Until: begin.Add(-1000 * time.Hour)}, nil},
		"since is included": {
			Query{Since: begin.Add(-1000 * time.Hour), Until: begin.Add(-999 * time.Hour)},
			[]string{"bees of old"},
		},
		"importance":   {Query{MinImportance: 0.9}, []string{"bees of weight"}},
		"type":         {Query{Types: []memory.Type{"task"}}, []string{"bees to keep"}},
		"similarity":   {Query{MinSimilarity: 0.999}, []string{"bees of all"}},
		"another user": {Query{Owner: bob}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c.q.Text, c.q.NoTouch = "bees", true
			expect(t, f.recall(c.q), c.want...)
		})
	}
}

func TestRecall_UsesModeAndWeightsOfTheRequest(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("Ada keeps bees", func(m *memory.Memory) { m.Importance = 0.1 }, true)
	f.add("Ada won a prize", func(m *memory.Memory) { m.Importance = 1 }, true)
	if got := contents(f.recall(Query{Text: "keeps bees", NoTouch: true})); got[0] != "Ada keeps bees" {
		t.Errorf("modulated %q", got)
	}
	q := Query{Text: "keeps bees", NoTouch: true, Mode: Additive, Weights: &Weights{Importance: 1}}
	if got := contents(f.recall(q)); got[0] != "Ada won a prize" {
		t.Errorf("by importance only %q", got)
	}
}

func TestRecall_FindsChineseByCharacters(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("用户在上海做后端工程师", nil, true)
	f.add("用户喜欢周末爬山", nil, true)
	if got := contents(f.recall(Query{Text: "他是什么工程师？"})); !strings.Contains(got[0], "工程师") {
		t.Errorf("%q", got)
	}
}

func TestRecall_KeepsTheBestByWordsWhateverTheirSimilarity(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.set.Candidates = 3
	query, err := hashed.Embed(t.Context(), llm.ForQuery, []string{"alpha beta gamma"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 7 { // the best by vector first, the best by words last
		f.add(strings.TrimSpace(strings.Repeat("alpha ", i)+"other words"), func(m *memory.Memory) {
			v := slices.Clone(query[0])
			v[0] += float32(i)
			m.Embedding = unit(v)
		}, true)
	}
	f.vectorsDown = true // the database compares all seven
	a := f.recall(Query{Text: "alpha beta gamma", NoTouch: true})
	sources := map[string]int{}
	for _, r := range a.Memories {
		for _, source := range r.Sources {
			sources[source]++
		}
		if slices.Contains(r.Sources, nameVectors) && r.Similarity == 0 {
			t.Errorf("%q was found by vector, but has no similarity", r.Memory.Content)
		}
	}
	if len(a.Memories) != 6 || sources[nameVectors] != 3 || sources[nameWords] != 3 {
		t.Errorf("sources %v of %q", sources, contents(a))
	}
}

func unit(v []float32) []float32 {
	norm := Cosine(v, v)
	for i := range v {
		v[i] /= float32(norm)
	}
	return v
}

// The vector store still holds the memory with its former content.
func TestRecall_RanksAChangedMemoryByItsNewContent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := f.add("Ada loves sushi", nil, true)
	vectors, err := hashed.Embed(t.Context(), llm.ForDocument, []string{"The printer code is 4411"})
	if err != nil {
		t.Fatal(err)
	}
	m.Content = "The printer code is 4411"
	m.Lexemes = "printer code 4411"
	m.Embedding = vectors[0]
	m.Revision, m.UpdatedAt = 2, begin
	if err := f.store.InUser(t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
		return tx.Update(ctx, m)
	}); err != nil {
		t.Fatal(err)
	}
	for query, near := range map[string]bool{"Ada loves sushi": false, "printer code 4411": true} {
		a := f.recall(Query{Text: query, NoTouch: true})
		if len(a.Memories) != 1 || (a.Memories[0].Similarity > 0.5) != near {
			t.Errorf("%q: %+v", query, a.Memories)
		}
	}
}

func TestRecall_FailsWithoutTheDatabaseInEveryDomain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_ = f.store.Close()
	q := Query{Owner: ada, Text: "hi", Limit: 10, Domains: []memory.Domain{memory.GeneralChat}}
	if _, err := f.Recall(t.Context(), q); !memory.IsKind(err, memory.KindUnavailable) {
		t.Errorf("error %v", err)
	}
}
