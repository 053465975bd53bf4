package recall

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap/zaptest"

	"hippocampus/db"
	"hippocampus/db/sqlite"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
	"hippocampus/router"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/sqlitevec"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	ada     = memory.Owner{AppID: "app", UserID: "ada"}
	bob     = memory.Owner{AppID: "app", UserID: "bob"}
	begin   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	hashed  = llm.Hashed(128)
	unknown = memory.Errorf(memory.KindUnavailable, "away")
)

// bench is a service on real SQLite stores, whose parts can be taken away.
type bench struct {
	*Service
	t       *testing.T
	store   *sqlite.Store
	vectors vectorstore.Store
	routed  router.Route
	now     time.Time

	vectorsAway, embedderAway bool
	strayHits                 []vectorstore.Hit // found besides the real ones
	searches                  []vectorstore.Query
}

func (b *bench) Search(ctx context.Context, q vectorstore.Query) ([]vectorstore.Hit, error) {
	if b.vectorsAway {
		return nil, unknown
	}
	b.searches = append(b.searches, q)
	hits, err := b.vectors.Search(ctx, q)
	return append(hits, b.strayHits...), err
}

func (b *bench) Embed(ctx context.Context, use llm.Use, texts []string) ([][]float32, error) {
	if b.embedderAway {
		return nil, unknown
	}
	return hashed.Embed(ctx, use, texts)
}

func (b *bench) Model() string { return hashed.Model() }
func (b *bench) Dim() int      { return hashed.Dim() }

func (b *bench) Route(context.Context, string) router.Route { return b.routed }

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, now: begin, routed: router.Route{Source: "test"}}
	var err error
	if b.store, err = sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "hippocampus.db")}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.store.Close() })
	if err := b.store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.vectors, err = sqlitevec.Open(t.Context(), sqlitevec.Options{
		Path: filepath.Join(t.TempDir(), "vectors.db"), Space: vectorstore.Space{Model: hashed.Model(), Dim: hashed.Dim()},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.vectors.Close() })
	log := zaptest.NewLogger(t)
	b.Service = New(b.store, b, b, b, NewTouches(b.store, time.Hour, log), Settings{
		Mode: Modulated, Weights: defaults, DecayRate: 0.99, Lift: lift, Cues: cueWeights, LexicalFloor: 0.3, BM25: BM25{K1: 1.2, B: 0.4}, Candidates: 50,
		OwnWindow: 10 * time.Second, OwnLimit: 100, FallbackLimit: 1000, VectorTimeout: time.Minute, EmbedTimeout: time.Minute, QueryCache: 1 << 20, IndexCache: 1 << 20,
	}, func() time.Time { return b.now }, log)
	return b
}

// add writes a memory to the database and, unless it is only there, to the vector store.
func (b *bench) add(content string, change func(*memory.Memory), projected bool) memory.Memory {
	b.t.Helper()
	vectors, err := hashed.Embed(b.t.Context(), llm.ForDocument, []string{content})
	if err != nil {
		b.t.Fatal(err)
	}
	m := memory.Memory{
		ID: memory.NewID(), Owner: ada, Content: content, Lexemes: text.Join(text.Lexemes(content)), Type: memory.TypeFact,
		Domain: memory.Lifestyle, Importance: 0.8, Status: memory.Active, Embedding: vectors[0], EmbeddingModel: hashed.Model(),
		Revision: 1, CreatedAt: begin.Add(-time.Hour), UpdatedAt: begin, LastAccessedAt: begin.Add(-time.Hour),
	}
	if change != nil {
		change(&m)
	}
	if err := b.store.InUser(b.t.Context(), m.Owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.Insert(ctx, []memory.Memory{m}, begin)
	}); err != nil {
		b.t.Fatal(err)
	}
	if projected {
		if err := b.vectors.Insert(b.t.Context(), []vectorstore.Record{vectorstore.RecordOf(m)}); err != nil {
			b.t.Fatal(err)
		}
		if err := b.store.FinishVectors(b.t.Context(), []db.VectorTask{{Memory: m}}, begin.Add(-time.Hour)); err != nil {
			b.t.Fatal(err)
		}
	}
	return m
}

func (b *bench) recall(q Query) Answer {
	b.t.Helper()
	if q.Owner == (memory.Owner{}) {
		q.Owner = ada
	}
	if q.Limit == 0 {
		q.Limit = 10
	}
	answer, err := b.Recall(b.t.Context(), q)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer
}

func found(a Answer) []string {
	list := []string{}
	for _, r := range a.Memories {
		list = append(list, r.Memory.Content)
	}
	return list
}

func expect(t *testing.T, a Answer, want ...string) {
	t.Helper()
	got := found(a)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("recalled %q, want %q", got, want)
	}
}

func TestRecallTellsEveryPart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.add("Ada keeps bees in the garden", nil, true)
	b.add("Ada reads novels", nil, true)
	a := b.recall(Query{Text: "bees in the garden"})
	best := a.Memories[0]
	if best.Memory.Content != "Ada keeps bees in the garden" || best.Similarity < 0.5 || best.Lexical <= 0 || best.Relevance != 1 ||
		best.Decay != 0.99 || best.Importance != 0.8 || best.Score != 0.5+0.2*0.99+0.3*0.8 || !slices.Equal(best.Sources, []string{byVector, byWords}) {
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
	if len(a.Memories) != 1 || !slices.Contains(a.Memories[0].Sources, byOwn) || a.Memories[0].Similarity <= 0 || len(a.Degraded) != 0 {
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
	if !slices.Equal(found(whole), found(degraded)) {
		t.Errorf("recalled %q, without the vector store %q", found(whole), found(degraded))
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
			if !slices.Equal(found(whole), found(degraded)) {
				t.Errorf("recalled %q, without the vector store %q", found(whole), found(degraded))
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
	if got := found(b.recall(Query{Text: "keeps bees", NoTouch: true})); got[0] != "Ada keeps bees" {
		t.Errorf("modulated %q", got)
	}
	if got := found(b.recall(Query{Text: "keeps bees", NoTouch: true, Mode: Additive, Weights: &Weights{Importance: 1}})); got[0] != "Ada won a prize" {
		t.Errorf("importance alone %q", got)
	}
}
