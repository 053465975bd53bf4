package recall

import (
	"context"
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
	"hippocampus/tests/apptest"
	"hippocampus/vectorstore"
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
	remote                    bool // the vector store is worth being spared
}

func (b *bench) Healthy() bool { return b.remote && !b.vectorsAway }

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
	b.store = apptest.SQLite(t)
	b.vectors = apptest.Vectors(t, hashed)
	log := zaptest.NewLogger(t)
	b.Service = New(b.store, b, b, b, NewTouches(b.store, time.Hour, log), Settings{
		Mode: Modulated, Weights: defaults, DecayRate: 0.99, Lift: lift, Cues: cueWeights, LexicalFloor: 0.3, Words: 0.5, Contrast: 3, BM25: BM25{K1: 1.2, B: 0.4}, Candidates: 50,
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

func contents(a Answer) []string {
	list := []string{}
	for _, r := range a.Memories {
		list = append(list, r.Memory.Content)
	}
	return list
}

func expect(t *testing.T, a Answer, want ...string) {
	t.Helper()
	got := contents(a)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("recalled %q, want %q", got, want)
	}
}
