package erasure

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap/zaptest"

	"hippocampus/db"
	"hippocampus/db/sqlite"
	"hippocampus/ingest"
	"hippocampus/ingest/write"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
	"hippocampus/tests/apptest"
	"hippocampus/vectorstore/projection"
	"hippocampus/vectorstore/sqlitevec"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ada  = memory.Owner{AppID: "app", UserID: "ada"}
	bob  = memory.Owner{AppID: "app", UserID: "bob"}
)

// fixture is an erasure on real SQLite stores, with the services that write to them and a clock that the test moves.
type fixture struct {
	t       *testing.T
	store   *sqlite.Store
	vectors *sqlitevec.Store
	push    *projection.Projection
	ingest  *ingest.Service
	*Service

	clock *apptest.Clock

	mu       sync.Mutex
	embedded func() // is called once, by the next embedding
	scored   func() // likewise
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	log := zaptest.NewLogger(t)
	b := &fixture{t: t, store: apptest.SQLite(t), clock: apptest.NewClock(noon)}
	embedder := &embedder{llm.Hashed(64), b}
	b.vectors = apptest.Vectors(t, embedder)
	b.push = projection.New(b.store, b.vectors, projection.Settings{Lease: time.Minute, Batch: 10, Backoff: time.Second,
		BackoffLimit: time.Minute}, b.clock.Now, log)
	b.ingest = ingest.New(ingest.Parts{
		Records: b.store, Scorer: &judge{scorer.NewRules(), b}, Embedder: embedder, Pusher: b.push,
		Writer: write.New(write.Parts{
			Records: b.store, Embedder: embedder, Vectors: b.vectors, Pusher: b.push, Now: b.clock.Now, Log: log,
		}, write.Settings{MergeSimilarity: 0.95, OwnLimit: 100, FallbackLimit: 100}),
		Guess: func(string) memory.Domain { return memory.GeneralChat }, Now: b.clock.Now, Log: log,
	}, ingest.Settings{
		Threshold: 0.7, Attempts: 3, RetryDelay: time.Second,
		RetryLimit: time.Minute, GiveUp: time.Hour, Lease: time.Minute, Renew: time.Hour, Timeout: time.Minute,
	})
	b.Service = New(b.store, b.vectors, func(memory.Owner) { b.ingest.Purge() }, b.clock.Now, log)
	return b
}

func (b *fixture) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// embedder and judge call the hooks of the test.
type embedder struct {
	llm.Embedder
	b *fixture
}

func (e *embedder) Embed(ctx context.Context, use llm.Use, texts []string) ([][]float32, error) {
	e.b.call(&e.b.embedded)
	return e.Embedder.Embed(ctx, use, texts)
}

type judge struct {
	scorer.Scorer
	b *fixture
}

func (j *judge) Score(
	ctx context.Context, turn memory.Turn, before []memory.Message,
) ([]scorer.Fact, error) {
	j.b.call(&j.b.scored)
	return j.Scorer.Score(ctx, turn, before)
}

func (b *fixture) call(hook *func()) {
	b.mu.Lock()
	f := *hook
	*hook = nil
	b.mu.Unlock()
	if f != nil {
		f()
	}
}

// turn accepts a turn, from which the rules keep one fact.
func (b *fixture) turn(owner memory.Owner) memory.Turn {
	b.t.Helper()
	turn, _, err := b.ingest.Accept(b.t.Context(), memory.Turn{
		Owner: owner, Messages: []memory.Message{{Role: "user",
			Content: "I work as a marine biologist in Lisbon."}},
	})
	b.must(err)
	_, _, err = b.store.Enqueue(b.t.Context(), ingest.ProcessTurn{TurnID: turn.ID}) // as an older version
	b.must(err)
	return turn
}

// process processes the turns that are due, until one has been processed.
func (b *fixture) process() {
	b.t.Helper()
	ctx, stop := context.WithCancel(b.t.Context())
	b.ingest.OnProcessed = func(context.Context, memory.Turn) { stop() }
	b.ingest.Work(ctx)
}

func (b *fixture) write(owner memory.Owner, contents ...string) {
	b.t.Helper()
	for _, content := range contents {
		_, err := b.ingest.Write(b.t.Context(), ingest.Write{Owner: owner, Content: content})
		b.must(err)
	}
}

// live gives a user a processed turn, a pending one and two direct memories: one is forgotten, and a copy of the
// other is in the pool.
func (b *fixture) live(owner memory.Owner) {
	b.t.Helper()
	b.turn(owner)
	b.process()
	b.must(b.store.RenewTurns(b.t.Context(), []string{b.turn(owner).ID}, noon.AddDate(1, 0, 0)))
	b.write(owner, "Likes tea.", "Likes jazz.")
	list := b.memories(owner)
	_, _, err := b.ingest.Contribute(b.t.Context(), ingest.Contribution{Owner: owner, MemoryID: list[1].ID})
	b.must(err)
	_, err = b.ingest.Forget(b.t.Context(), owner.AppID, list[0].ID, ingest.OfStatement)
	b.must(err)
}

func (b *fixture) memories(owner memory.Owner) []memory.Memory {
	b.t.Helper()
	list, err := b.store.ListMemories(b.t.Context(), db.MemoryFilter{Owner: owner, Limit: 100})
	b.must(err)
	return list
}

// held counts the rows, vectors and jobs of a user.
func (b *fixture) held(owner memory.Owner) (n int) {
	b.t.Helper()
	ctx := b.t.Context()
	turns, err := b.store.ListTurns(ctx, db.TurnFilter{AppID: owner.AppID, UserID: owner.UserID, Limit: 100})
	b.must(err)
	candidates, err := b.store.ListCandidates(ctx, db.CandidateFilter{AppID: owner.AppID, UserID: owner.UserID,
		Limit: 100})
	b.must(err)
	vectors, err := b.vectors.CountOwner(ctx, owner)
	b.must(err)
	state, err := b.store.State(ctx, owner)
	b.must(err)
	if !state.ReflectedAt.IsZero() {
		n++
	}
	return n + len(turns) + len(candidates) + vectors + len(b.memories(owner))
}

// wantPool checks that the pool holds no vector without a memory.
func (b *fixture) wantPool() {
	b.t.Helper()
	pool := memory.PoolOf(ada.AppID)
	vectors, err := b.vectors.CountOwner(b.t.Context(), pool)
	b.must(err)
	if rows := len(b.memories(pool)); vectors != rows {
		b.t.Errorf("the pool has %d memories and %d vectors", rows, vectors)
	}
}

// jobs counts the jobs that name an id.
func (b *fixture) jobs(kind string) (n int) {
	b.t.Helper()
	list, err := b.store.ListJobs(b.t.Context(), db.JobFilter{Kinds: []string{kind}, Limit: 100})
	b.must(err)
	for _, j := range list {
		if string(j.Payload) != "{}" {
			n++
		}
	}
	return n
}

func (b *fixture) erased(owner memory.Owner) db.Erasure {
	b.t.Helper()
	done, err := b.Erase(b.t.Context(), owner)
	b.must(err)
	if n := b.held(owner); n != 0 {
		b.t.Errorf("%d things of %s are left", n, owner.UserID)
	}
	b.wantPool()
	return done
}

// wantMarked requires that writes for a user who is being erased are refused.
func (b *fixture) wantMarked(owner memory.Owner) {
	b.t.Helper()
	if _, err := b.ingest.Write(b.t.Context(), ingest.Write{Owner: owner, Content: "Likes tea."}); !errors.Is(err,
		db.ErrErasing) {
		b.t.Errorf("a write while the user is erased: %v", err)
	}
	if _, _, err := b.ingest.Accept(b.t.Context(), memory.Turn{Owner: owner}); !errors.Is(err, db.ErrErasing) {
		b.t.Errorf("a turn while the user is erased: %v", err)
	}
}
