package recall

import (
	"context"
	"slices"
	"sync"
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
	errDown = memory.Errorf(memory.KindUnavailable, "down")
)

// fixture is a service on real SQLite stores, whose parts a test can make unavailable.
type fixture struct {
	*Service
	t       testing.TB
	store   *sqlite.Store
	vectors vectorstore.Store
	routed  router.Route
	now     time.Time

	mu                        sync.Mutex // of searches: the parts of a prompt are searched for at the same time
	vectorsDown, embedderDown bool
	strayHits                 []vectorstore.Hit // added to the hits of every search
	searches                  []vectorstore.Query
	remote                    bool   // the vector store is healthy and in another process
	inConversation            string // of the memories that are added
}

func (f *fixture) Healthy() bool { return f.remote && !f.vectorsDown }

func (f *fixture) Search(ctx context.Context, q vectorstore.Query) ([]vectorstore.Hit, error) {
	if f.vectorsDown {
		return nil, errDown
	}
	f.mu.Lock()
	f.searches = append(f.searches, q)
	f.mu.Unlock()
	hits, err := f.vectors.Search(ctx, q)
	return append(hits, f.strayHits...), err
}

func (f *fixture) Embed(ctx context.Context, use llm.Use, texts []string) ([][]float32, error) {
	if f.embedderDown {
		return nil, errDown
	}
	return hashed.Embed(ctx, use, texts)
}

func (f *fixture) Model() string { return hashed.Model() }
func (f *fixture) Dim() int      { return hashed.Dim() }

func (f *fixture) Route(context.Context, string) router.Route { return f.routed }

func newFixture(t testing.TB) *fixture {
	t.Helper()
	f := &fixture{t: t, now: begin, routed: router.Route{Source: "test"}}
	f.store = apptest.SQLite(t)
	f.vectors = apptest.Vectors(t, hashed)
	log := zaptest.NewLogger(t)
	f.Service = New(f.store, f, f, f, NewTouches(f.store, time.Hour, log), Settings{
		Mode: Modulated, Weights: defaults, DecayRate: 0.99, Lift: lift, Cues: cueWeights, LexicalFloor: 0.3,
		Words: 0.5, Contrast: 3, BM25: BM25{K1: 1.2, B: 0.4}, Candidates: 50, OwnWindow: 10 * time.Second,
		OwnLimit: 100, FallbackLimit: 1000, VectorTimeout: time.Minute, EmbedTimeout: time.Minute,
		QueryCache: 1 << 20, IndexCache: 1 << 20,
	}, func() time.Time { return f.now }, log)
	return f
}

// memory returns a memory of Ada.
func (f *fixture) memory(content string) memory.Memory {
	f.t.Helper()
	vectors, err := hashed.Embed(f.t.Context(), llm.ForDocument, []string{content})
	if err != nil {
		f.t.Fatal(err)
	}
	return memory.Memory{
		ID: memory.NewID(), Owner: ada, Content: content, Lexemes: text.Join(text.Lexemes(content)),
		Type: memory.TypeFact, Domain: memory.Lifestyle, Importance: 0.8, Status: memory.Active,
		ConversationID: f.inConversation,
		Embedding:      vectors[0], EmbeddingModel: hashed.Model(), Revision: 1,
		CreatedAt: begin.Add(-time.Hour), UpdatedAt: begin, LastAccessedAt: begin.Add(-time.Hour),
	}
}

// add writes a memory to the database and, if projected, to the vector store.
func (f *fixture) add(content string, change func(*memory.Memory), projected bool) memory.Memory {
	f.t.Helper()
	m := f.memory(content)
	if change != nil {
		change(&m)
	}
	if err := f.store.InUser(f.t.Context(), m.Owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.Insert(ctx, []memory.Memory{m}, begin)
	}); err != nil {
		f.t.Fatal(err)
	}
	if projected {
		if err := f.vectors.Insert(f.t.Context(), []vectorstore.Record{vectorstore.RecordOf(m)}); err != nil {
			f.t.Fatal(err)
		}
		pushed := []db.VectorTask{{Memory: m, Claim: 1}}
		if err := f.store.FinishVectors(f.t.Context(), pushed, begin.Add(-time.Hour)); err != nil {
			f.t.Fatal(err)
		}
	}
	return m
}

func (f *fixture) recall(q Query) Answer {
	f.t.Helper()
	if q.Owner == (memory.Owner{}) {
		q.Owner = ada
	}
	if q.Limit == 0 {
		q.Limit = 10
	}
	answer, err := f.Recall(f.t.Context(), q)
	if err != nil {
		f.t.Fatal(err)
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
