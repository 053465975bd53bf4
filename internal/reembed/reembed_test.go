package reembed

import (
	"context"
	"errors"
	"fmt"
	"os"
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
	"hippocampus/internal/projection"
	"hippocampus/internal/text"
	"hippocampus/recall"
	"hippocampus/router"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/sqlitevec"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	ada      = memory.Owner{AppID: "app", UserID: "ada"}
	oldSpace = memory.Space{Model: "old", Dim: 48}
	newSpace = memory.Space{Model: "new", Dim: 64}
)

// named is a hashed embedder under a name, which may be away.
type named struct {
	llm.Embedder
	space memory.Space
	away  atomic.Bool
}

func (n *named) Model() string { return n.space.Model }
func (n *named) Dim() int      { return n.space.Dim }

func (n *named) Embed(ctx context.Context, use llm.Use, texts []string) ([][]float32, error) {
	if n.away.Load() {
		return nil, memory.Errorf(memory.KindUnavailable, "%s is away", n.space.Model)
	}
	return n.Embedder.Embed(ctx, use, texts)
}

// place is where replicas find their stores and embedders.
type place struct {
	t         *testing.T
	dir       string
	embedders map[memory.Space]*named
}

func newPlace(t *testing.T) *place {
	p := &place{t: t, dir: t.TempDir(), embedders: map[memory.Space]*named{}}
	for _, space := range []memory.Space{oldSpace, newSpace} {
		p.embedders[space] = &named{Embedder: llm.Hashed(space.Dim), space: space}
	}
	return p
}

// replica is one server's part in this, put together as app does.
type replica struct {
	*Service
	t      *testing.T
	store  *sqlite.Store
	sw     *Switch
	push   *projection.Projection
	keep   *projection.Upkeep
	recall *recall.Service
	asked  atomic.Int64
}

// start starts a replica that is configured for a space. wrap puts faults
// between it and its database.
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
		vectors, err := sqlitevec.Open(ctx, sqlitevec.Options{Path: filepath.Join(p.dir, sqlitevec.FileName(space)), Space: space})
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
		Interval: 20 * time.Millisecond, Batch: 50, Lease: time.Minute, Backoff: 10 * time.Millisecond, BackoffLimit: 50 * time.Millisecond,
	}, time.Now, log)
	r.push.Serves(r.sw.Space)
	r.keep = projection.NewUpkeep(r.store, r.sw.Vectors(), r.push, time.Now, log)
	var records Records = r.store
	if wrap != nil {
		records = wrap(records)
	}
	r.Service = New(Parts{
		Records: records, Switch: r.sw, Keep: r.keep, Lacking: r.push.Lacking, Open: open,
		Able: func(space memory.Space) bool { return space == configured },
		Ask:  func(context.Context) error { r.asked.Add(1); return nil }, Now: time.Now, Log: log,
	}, Settings{
		Look: 10 * time.Millisecond, Lease: 200 * time.Millisecond, Slice: time.Minute, Page: 7, Rest: 20,
		Backoff: time.Millisecond, BackoffLimit: 10 * time.Millisecond,
	})
	r.recall, err = recall.New(r.store, r.sw.Vectors(), everywhere{}, r.sw, recall.NewTouches(r.store, time.Hour, log), recall.Settings{
		Mode: recall.Modulated, Weights: recall.Weights{Relevance: 1}, DecayRate: 0.99, BM25: recall.BM25{K1: 1.2, B: 0.4}, Candidates: 500,
		OwnWindow: 10 * time.Second, OwnLimit: 1000, FallbackLimit: 1000, VectorTimeout: time.Minute, EmbedTimeout: time.Minute, CachedQueries: 10,
	}, time.Now, log)
	p.must(err)
	_, err = r.Begin(ctx, configured)
	if !errors.Is(err, errKilled) {
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

// run follows and pushes in the background until stop, as a server does.
func (r *replica) run() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { r.Service.Run(ctx) })
	group.Go(func() { r.push.Run(ctx) })
	return func() { cancel(); group.Wait() }
}

// write remembers texts as ingest does.
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
			Domain: memory.GeneralChat, Importance: 0.8, Status: memory.Active, Embedding: vectors[i], EmbeddingModel: by.Model(),
			Revision: 1, CreatedAt: at, UpdatedAt: at, LastAccessedAt: at,
		}
	}
	if err := r.store.InUser(r.t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
		return tx.Insert(ctx, list, r.push.Claimed())
	}); err != nil {
		r.t.Error(err)
	}
	r.push.PushNew(r.t.Context(), list)
	return list
}

// similar returns the contents that recall compares by vector, and what it
// says is away.
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

// settled is the state when everything is done; works until then.
func (r *replica) settle() {
	r.t.Helper()
	var done Result
	var last error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
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

// whole checks that every memory is embedded by the space that serves, in both stores.
func (r *replica) whole(space memory.Space, contents []string) {
	r.t.Helper()
	ctx := r.t.Context()
	r.look(ctx)
	state, err := r.store.ServingState(ctx)
	if err != nil || !state.Settled() || state.Serving != space || r.sw.Space() != space {
		r.t.Fatalf("%+v, here %v, %v", state, r.sw.Space(), err)
	}
	if n, err := r.store.CountUnembedded(ctx, space); n != 0 || err != nil {
		r.t.Errorf("%d memories are not embedded, %v", n, err)
	}
	if _, err := r.keep.Repair(ctx); err != nil { // pushes what is due
		r.t.Fatal(err)
	}
	if report, err := r.keep.Verify(ctx); err != nil || report.Drift() != 0 || report.Checked != len(contents) {
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

// A changed model takes over while recall and writes go on: no answer is
// wrong, and none lacks a memory that an earlier one had.
func TestAChangedModelTakesOver(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	before := p.start(oldSpace, nil)
	contents := contentsOf(60, "written before")
	before.write(contents...)
	p.must(before.sw.close())

	r := p.start(newSpace, nil)
	if progress := r.Progress(); progress.Serving != oldSpace || progress.Target != newSpace || progress.Remaining != 60 {
		t.Errorf("at the start %+v", progress)
	}
	if err := r.sw.Vectors().Rebuild(t.Context(), nil); !memory.IsKind(err, memory.KindConflict) {
		t.Errorf("a rebuild amid re-embedding: %v", err)
	}
	stop := r.run()
	ended := make(chan struct{})
	var group sync.WaitGroup
	rest := sync.OnceFunc(func() { close(ended); group.Wait(); stop() })
	defer rest()
	var known []string
	group.Go(func() { // each answer holds all that was written before it was asked for
		for i := 0; ; i++ {
			found, degraded, err := r.similar()
			if err != nil || len(degraded) > 0 {
				t.Errorf("recall %d: degraded %v, %v", i, degraded, err)
			}
			for _, content := range known {
				if !slices.Contains(found, content) {
					t.Errorf("recall %d lost %q", i, content)
				}
			}
			known = found
			select {
			case <-ended:
				return
			default:
			}
		}
	})
	var written []string
	group.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-ended:
				return
			case <-time.After(2 * time.Millisecond):
			}
			content := fmt.Sprintf("written meanwhile number%d", i)
			r.write(content)
			written = append(written, content)
		}
	})
	r.settle()
	rest()
	t.Logf("%d memories were written meanwhile", len(written))
	for { // what was written in the last moments
		if !r.push.Lacking() {
			if n, err := r.store.CountUnembedded(t.Context(), newSpace); err == nil && n == 0 {
				break
			}
		}
		if _, err := r.Work(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	r.whole(newSpace, append(contents, written...))
	if _, err := os.Stat(filepath.Join(p.dir, sqlitevec.FileName(oldSpace))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the former vectors are still there: %v", err)
	}
	if _, err := r.keep.Rebuild(t.Context()); err != nil {
		t.Errorf("a rebuild afterwards: %v", err)
	}
}

var errKilled = errors.New("killed")

// mortal is a database whose client dies at the n-th call that changes
// something, before or after it: no later call arrives.
type mortal struct {
	Records
	n     int
	after bool
	calls int
}

func (m *mortal) call(f func() error) error {
	m.calls++
	switch {
	case m.calls > m.n, m.calls == m.n && !m.after:
		return errKilled
	case m.calls == m.n:
		_ = f()
		return errKilled
	}
	return f()
}

func (m *mortal) Reembed(ctx context.Context, space memory.Space, e []db.Reembedding) error {
	return m.call(func() error { return m.Records.Reembed(ctx, space, e) })
}

func (m *mortal) ChangeOver(ctx context.Context, to memory.Space, copied, at time.Time) error {
	return m.call(func() error { return m.Records.ChangeOver(ctx, to, copied, at) })
}

func (m *mortal) DropFormer(ctx context.Context) error {
	return m.call(func() error { return m.Records.DropFormer(ctx) })
}

func (m *mortal) SettleEmbeddings(ctx context.Context, space memory.Space, limit int) (n int, err error) {
	err = m.call(func() error { n, err = m.Records.SettleEmbeddings(ctx, space, limit); return err })
	return n, err
}

func (m *mortal) Aim(ctx context.Context, space memory.Space, at time.Time) (state db.ServingState, err error) {
	err = m.call(func() error { state, err = m.Records.Aim(ctx, space, at); return err })
	return state, err
}

func (m *mortal) Requeue(ctx context.Context, ids []string, at time.Time) (n int, err error) {
	err = m.call(func() error { n, err = m.Records.Requeue(ctx, ids, at); return err })
	return n, err
}

// Wherever a process dies, the next one goes on, and recall finds everything
// meanwhile.
func TestKilledAtEachStep(t *testing.T) {
	t.Parallel()
	points := 0
	for _, after := range []bool{false, true} {
		for n := 1; ; n++ {
			p := newPlace(t)
			first := p.start(oldSpace, nil)
			contents := contentsOf(20, "remembered")
			first.write(contents...)
			p.must(first.sw.close())
			p.must(first.store.Close())

			faults := &mortal{n: n, after: after}
			killed := p.start(newSpace, func(r Records) Records {
				faults.Records = r
				killing := faults
				return killing
			})
			for range 5 {
				if _, err := killed.Work(t.Context()); err != nil {
					break
				}
			}
			p.must(killed.sw.close())
			p.must(killed.store.Close())
			r := p.start(newSpace, nil)
			if found, degraded, err := r.similar(); err != nil || len(degraded) > 0 || len(found) != len(contents) {
				t.Errorf("killed at step %d (after it: %t): %d found, degraded %v, %v", n, after, len(found), degraded, err)
			}
			r.settle()
			r.whole(newSpace, contents)
			p.must(r.sw.close())
			p.must(r.store.Close())
			if faults.calls < n {
				break
			}
			points++
		}
	}
	t.Logf("%d points of death", points)
	if points < 12 {
		t.Errorf("%d points of death, want at least 12", points)
	}
}

// While the old model is away recall goes by words and says so; while the new
// one is, the old one serves. Neither ends the work.
func TestEmbeddersAway(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	first := p.start(oldSpace, nil)
	contents := contentsOf(10, "remembered")
	first.write(contents...)
	p.must(first.sw.close())

	r := p.start(newSpace, nil)
	r.set.Slice = 30 * time.Millisecond
	p.embedders[newSpace].away.Store(true)
	done, err := r.Work(t.Context())
	if err != nil || done.Embedded != 0 || done.Remaining != 10 || done.Note != "new is away" {
		t.Errorf("without the new model: %+v, %v", done, err)
	}
	if found, degraded, err := r.similar(); err != nil || len(degraded) > 0 || len(found) != 10 {
		t.Errorf("without the new model: %d found, degraded %v, %v", len(found), degraded, err)
	}
	p.embedders[newSpace].away.Store(false)
	p.embedders[oldSpace].away.Store(true)
	answer, err := r.recall.Recall(t.Context(), recall.Query{Owner: ada, Text: "remembered number3", Limit: 1, NoTouch: true})
	if err != nil || len(answer.Memories) != 1 || !slices.Equal(answer.Degraded, []string{"embedder"}) {
		t.Errorf("without the old model: %+v, %v", answer, err)
	}
	r.set.Slice = time.Minute
	r.settle()
	r.whole(newSpace, contents)
}

// Two replicas share the work, one at a time, and follow each other; one that
// is not configured for the target leaves the work to the other. The
// configuration that started last wins, and may take all of it back.
func TestReplicas(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	stays := p.start(oldSpace, nil)
	contents := contentsOf(30, "remembered")
	stays.write(contents...)
	changes := p.start(newSpace, nil)

	stays.look(t.Context())
	if stays.asked.Load() != 1 {
		t.Error("nobody is asked to do the work")
	}
	if done, err := stays.Work(t.Context()); err != nil || done.Embedded != 0 || done.Note == "" {
		t.Errorf("the replica that is not configured for it: %+v, %v", done, err)
	}
	_, release, err := changes.hold(t.Context())
	if err != nil || release == nil {
		t.Fatalf("the lease is not free: %v", err)
	}
	stays.look(t.Context())
	if done, err := stays.Work(t.Context()); err != nil || done.Note != "another replica is at it" || stays.asked.Load() != 1 {
		t.Errorf("while another is at it: %+v, %v, asked %d times", done, err, stays.asked.Load())
	}
	release()

	stop := stays.run()
	changes.settle()
	for deadline := time.Now().Add(time.Minute); stays.sw.Space() != newSpace; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the other replica does not follow")
		}
	}
	stays.write("written by the one that follows")
	stop()
	changes.whole(newSpace, append(contents, "written by the one that follows"))

	back := p.start(oldSpace, nil)
	back.settle()
	back.whole(oldSpace, append(contents, "written by the one that follows"))
	changes.look(t.Context())
	if changes.sw.Space() != oldSpace {
		t.Errorf("the others serve %v", changes.sw.Space())
	}
}

// Of a pair that has been given up nothing is searched, and vectors of another
// space are refused wherever they come from.
func TestSpacesNeverMeet(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r := p.start(oldSpace, nil)
	vector := make([]float32, newSpace.Dim)
	vector[0] = 1
	if _, err := r.sw.Vectors().Search(t.Context(), vectorstore.Query{Owner: ada, Embedding: vector, Space: newSpace, Limit: 1}); !memory.IsKind(err, memory.KindUnavailable) {
		t.Errorf("a search in a space that is not open: %v", err)
	}
	short := vector[:oldSpace.Dim]
	store := r.sw.current().Vectors
	if _, err := store.Search(t.Context(), vectorstore.Query{Owner: ada, Embedding: short, Space: memory.Space{Model: "other", Dim: oldSpace.Dim}, Limit: 1}); !memory.IsKind(err, memory.KindInvalid) {
		t.Errorf("a query by another model: %v", err)
	}
	record := vectorstore.Record{ID: memory.NewID(), Owner: ada, Content: "x", Embedding: short, Space: memory.Space{Model: "other", Dim: oldSpace.Dim}}
	if err := store.Replace(t.Context(), []vectorstore.Record{record}); !memory.IsKind(err, memory.KindInvalid) {
		t.Errorf("a record by another model: %v", err)
	}
}
