package reembed

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/db/sqlite"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
	"hippocampus/recall"
	"hippocampus/router"
	"hippocampus/vectorstore/projection"
	"hippocampus/vectorstore/sqlitevec"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	ada      = memory.Owner{AppID: "app", UserID: "ada"}
	oldSpace = memory.Space{Model: "old", Dim: 48}
	newSpace = memory.Space{Model: "new", Dim: 64}
)

// named is a hashed embedder of a named space that can be made unavailable.
type named struct {
	llm.Embedder
	space memory.Space
	down  atomic.Bool
}

func (n *named) Model() string { return n.space.Model }
func (n *named) Dim() int      { return n.space.Dim }

func (n *named) Embed(ctx context.Context, use llm.Use, texts []string) ([][]float32, error) {
	if n.down.Load() {
		return nil, memory.Errorf(memory.KindUnavailable, "%s is unavailable", n.space.Model)
	}
	return n.Embedder.Embed(ctx, use, texts)
}

// place holds what replicas share: the folder of their stores, and their embedders.
type place struct {
	t         *testing.T
	dir       string
	embedders map[memory.Space]*named
	keep      time.Duration // how long previous collections are kept
	ahead     atomic.Int64  // nanoseconds that the replicas' clock is ahead of the machine's
}

func (p *place) now() time.Time { return time.Now().Add(time.Duration(p.ahead.Load())) }

func newPlace(t *testing.T) *place {
	p := &place{t: t, dir: t.TempDir(), embedders: map[memory.Space]*named{}}
	for _, space := range []memory.Space{oldSpace, newSpace} {
		p.embedders[space] = &named{Embedder: llm.Hashed(space.Dim), space: space}
	}
	return p
}

// replica is the part of one server, built as server/app does.
type replica struct {
	*Service
	t           *testing.T
	store       *sqlite.Store
	sw          *Switch
	push        *projection.Projection
	maintenance *projection.Maintenance
	recall      *recall.Service
	requested   atomic.Int64
	existing    int64 // requests for which a job exists already
}

// start starts a replica that is configured for a space. wrap may inject faults
// into its database.
func (p *place) start(configured memory.Space, wrap func(Records) Records) *replica {
	p.t.Helper()
	ctx := p.t.Context()
	r := &replica{t: p.t}
	var err error
	if r.store, err = sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(p.dir, "hippocampus.db")}); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = r.store.Close() })
	p.must(r.store.Migrate(ctx))
	open := func(ctx context.Context, space memory.Space) (Pair, error) {
		vectors, err := sqlitevec.Open(ctx, sqlitevec.Options{
			Path: filepath.Join(p.dir, sqlitevec.FileName(space)), Space: space,
		})
		return Pair{Space: space, Embedder: p.embedders[space], Vectors: vectors}, err
	}
	state, err := r.store.ServingState(ctx)
	p.must(err)
	if state.Serving.Model == "" {
		state.Serving = configured
	}
	first, err := open(ctx, state.Serving)
	p.must(err)
	r.sw = NewSwitch(first)
	p.t.Cleanup(func() { _ = r.sw.close() })
	log := zap.NewNop()
	r.push = projection.New(r.store, r.sw.Vectors(), projection.Settings{
		Interval: 20 * time.Millisecond, Batch: 50, Lease: time.Minute,
		Backoff: 10 * time.Millisecond, BackoffLimit: 50 * time.Millisecond,
	}, p.now, log)
	r.push.SetSpace(r.sw.Space)
	r.maintenance = projection.NewMaintenance(r.store, r.sw.Vectors(), r.push, p.now, log)
	var records Records = r.store
	if wrap != nil {
		records = wrap(records)
	}
	r.Service = New(Parts{
		Records: records, Switch: r.sw, Maintenance: r.maintenance, SawUnembedded: r.push.SawUnembedded,
		Open:        open,
		CanEmbed:    func(space memory.Space) bool { return space == configured },
		RequestWork: func(context.Context) (bool, error) { return r.requested.Add(1) > r.existing, nil },
		Now:         p.now, Log: log,
	}, Settings{
		Interval: 10 * time.Millisecond, Lease: 200 * time.Millisecond, Slice: time.Minute, Page: 7, MaxRemaining: 20,
		Backoff: time.Millisecond, BackoffLimit: 10 * time.Millisecond, KeepPrevious: p.keep,
	})
	touches := recall.NewTouches(r.store, time.Hour, log)
	r.recall = recall.New(r.store, r.sw.Vectors(), everywhere{}, r.sw, touches, recall.Settings{
		Mode: recall.Modulated, Weights: recall.Weights{Relevance: 1}, DecayRate: 0.99, Words: 0.5, Contrast: 1,
		BM25: recall.BM25{K1: 1.2, B: 0.4}, Candidates: 500,
		OwnWindow: 10 * time.Second, OwnLimit: 1000, FallbackLimit: 1000,
		VectorTimeout: time.Minute, EmbedTimeout: time.Minute, QueryCache: 1 << 20, IndexCache: 1 << 20,
	}, time.Now, log)
	p.must(err)
	_, err = r.Begin(ctx, configured)
	if !errors.Is(err, errCrashed) {
		p.must(err)
	}
	return r
}

// everywhere routes to all domains.
type everywhere struct{}

func (everywhere) Route(context.Context, string) router.Route { return router.Route{Source: "off"} }

func (p *place) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// run runs the service and the pushes in the background until stop is called.
func (r *replica) run() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { r.Service.Run(ctx) })
	group.Go(func() { r.push.Run(ctx) })
	return func() { cancel(); group.Wait() }
}

// write stores texts as memories, as ingest does.
func (r *replica) write(texts ...string) []memory.Memory {
	r.t.Helper()
	by := llm.Serving(r.sw)
	vectors, err := by.Embed(r.t.Context(), llm.ForDocument, texts)
	if err != nil {
		r.t.Error(err)
		return nil
	}
	list := make([]memory.Memory, len(texts))
	at := memory.Instant(time.Now())
	for i, content := range texts {
		list[i] = memory.Memory{
			ID: memory.NewID(), Owner: ada, Content: content, Lexemes: text.Join(text.Lexemes(content)), Type: memory.TypeFact,
			Domain: memory.GeneralChat, Importance: 0.8, Status: memory.Active,
			Embedding: vectors[i], EmbeddingModel: by.Model(),
			Revision: 1, CreatedAt: at, UpdatedAt: at, LastAccessedAt: at,
		}
	}
	if err := r.store.InUser(r.t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
		return tx.Insert(ctx, list, r.push.ClaimedUntil())
	}); err != nil {
		r.t.Error(err)
	}
	r.push.PushNew(r.t.Context(), list)
	return list
}

// similar returns the contents that recall finds by vector, and which parts it
// reports as degraded.
func (r *replica) similar() (found []string, degraded []string, err error) {
	// "qqq" shares no word with any memory: only vectors find them.
	answer, err := r.recall.Recall(context.Background(), recall.Query{Owner: ada, Text: "qqq", Limit: 500, NoTouch: true})
	for _, m := range answer.Memories {
		if slices.Contains(m.Sources, "vector") || slices.Contains(m.Sources, "own_write") {
			found = append(found, m.Memory.Content)
		}
	}
	slices.Sort(found)
	return found, answer.Degraded, err
}

// settle works until re-embedding is done.
func (r *replica) settle() {
	r.t.Helper()
	var done Result
	var last error
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); {
		state, err := r.store.ServingState(r.t.Context())
		if err != nil {
			r.t.Fatal(err)
		}
		if state.Settled() {
			return
		}
		if done, err = r.Work(r.t.Context()); err != nil && !memory.IsKind(err, memory.KindUnavailable) {
			r.t.Fatal(err)
		}
		last = err
	}
	r.t.Fatalf("re-embedding does not end: %+v, %v", done, last)
}

// checkComplete checks that both stores hold every memory in the serving space.
func (r *replica) checkComplete(space memory.Space, contents []string) {
	r.t.Helper()
	ctx := r.t.Context()
	r.check(ctx)
	state, err := r.store.ServingState(ctx)
	if err != nil || !state.Settled() || state.Serving != space || r.sw.Space() != space {
		r.t.Fatalf("%+v, here %v, %v", state, r.sw.Space(), err)
	}
	if n, err := r.store.CountUnembedded(ctx, space); n != 0 || err != nil {
		r.t.Errorf("%d memories are not embedded, %v", n, err)
	}
	if _, err := r.maintenance.Repair(ctx); err != nil { // pushes what is due
		r.t.Fatal(err)
	}
	if report, err := r.maintenance.Verify(ctx); err != nil || report.Drift() != 0 || report.Checked != len(contents) {
		r.t.Errorf("%+v, %v", report, err)
	}
	slices.Sort(contents)
	if found, degraded, err := r.similar(); err != nil || len(degraded) > 0 || !slices.Equal(found, contents) {
		r.t.Errorf("found %d of %d memories, degraded %v, %v", len(found), len(contents), degraded, err)
	}
}

func contentsOf(n int, prefix string) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%s number%d", prefix, i)
	}
	return list
}
