package projection

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap/zaptest"

	"hippocampus/db"
	"hippocampus/db/sqlite"
	"hippocampus/internal/memory"
	"hippocampus/tests/apptest"
	"hippocampus/vectorstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	ada   = memory.Owner{AppID: "app", UserID: "ada"}
	space = vectorstore.Space{Model: "test", Dim: 4}
	begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// faulty is a real vector store with injected write errors.
type faulty struct {
	vectorstore.Store
	mu    sync.Mutex
	fail  func(call string, ids []string) error // may be nil
	calls []string                              // in order
}

func (f *faulty) call(name string, ids []string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, fmt.Sprintf("%s %d", name, len(ids)))
	if f.fail == nil {
		return nil
	}
	return f.fail(name, ids)
}

func (f *faulty) set(fail func(string, []string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail = fail
}

func idsOf(records []vectorstore.Record) (ids []string) {
	for _, r := range records {
		ids = append(ids, r.ID)
	}
	return ids
}

func (f *faulty) Insert(ctx context.Context, r []vectorstore.Record) error {
	return errors.Join(f.call("insert", idsOf(r)), f.Store.Insert(ctx, r))
}

func (f *faulty) Replace(ctx context.Context, r []vectorstore.Record) error {
	if err := f.call("replace", idsOf(r)); err != nil {
		return err
	}
	return f.Store.Replace(ctx, r)
}

func (f *faulty) Delete(ctx context.Context, ids []string) error {
	if err := f.call("delete", ids); err != nil {
		return err
	}
	return f.Store.Delete(ctx, ids)
}

type fixture struct {
	*Projection
	t       *testing.T
	store   *sqlite.Store
	vectors *faulty
	clock   *apptest.Clock
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return newFixtureOn(t, apptest.VectorFile(t, filepath.Join(t.TempDir(), "vectors.db"), space))
}

func newFixtureOn(t *testing.T, vectors vectorstore.Store) *fixture {
	t.Helper()
	b := &fixture{t: t, store: apptest.SQLite(t), clock: apptest.NewClock(begin), vectors: &faulty{Store: vectors}}
	b.Projection = New(b.store, b.vectors, Settings{
		Interval: time.Millisecond, Batch: 3, Lease: time.Minute, Grace: grace,
		Backoff: time.Second, BackoffLimit: 10 * time.Second,
	}, b.clock.Now, zaptest.NewLogger(t))
	b.Projection.SetSpace(func() memory.Space { return space })
	return b
}

// insert commits new memories, as ingest does, without pushing them.
func (b *fixture) insert(n int) []memory.Memory {
	b.t.Helper()
	list := make([]memory.Memory, n)
	for i := range list {
		list[i] = memory.Memory{
			ID: memory.NewID(), Owner: ada, Content: fmt.Sprintf("memory %d", i),
			Type: memory.TypeFact, Domain: memory.GeneralChat,
			Status: memory.Active, Embedding: []float32{1, 0, 0, 0}, EmbeddingModel: space.Model, Revision: 1,
			CreatedAt: b.clock.Now(), UpdatedAt: b.clock.Now(), LastAccessedAt: b.clock.Now(),
		}
	}
	b.tx(func(ctx context.Context, tx db.UserTx) error { return tx.Insert(ctx, list, b.ClaimedUntil()) })
	return list
}

func (b *fixture) tx(f func(ctx context.Context, tx db.UserTx) error) {
	b.t.Helper()
	if err := b.store.InUser(b.t.Context(), ada, f); err != nil {
		b.t.Fatal(err)
	}
}

func (b *fixture) update(m memory.Memory) memory.Memory {
	b.t.Helper()
	m.Revision++
	m.UpdatedAt = b.clock.Now()
	b.tx(func(ctx context.Context, tx db.UserTx) error { return tx.Update(ctx, m) })
	return m
}

// stored returns the contents of the records in the vector store.
func (b *fixture) stored() []string {
	b.t.Helper()
	list := []string{}
	if err := b.vectors.Scan(b.t.Context(), "", 1000, func(r vectorstore.Record) error {
		list = append(list, r.Content)
		return nil
	}); err != nil {
		b.t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

func (b *fixture) backlog() db.Backlog {
	b.t.Helper()
	backlog, err := b.store.VectorBacklog(b.t.Context(), nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return backlog
}

// settled reports whether no memory waits for the vector store.
func (b *fixture) settled() bool { return b.backlog().Oldest.IsZero() }

var unavailable = memory.Errorf(memory.KindUnavailable, "unavailable")

func TestPushNew_ConfirmsPush(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.PushNew(t.Context(), b.insert(2))
	if got := b.stored(); !slices.Equal(got, []string{"memory 0", "memory 1"}) || b.backlog().Pending != 0 {
		t.Errorf("stored %v, backlog %+v", got, b.backlog())
	}
	if !slices.Equal(b.vectors.calls, []string{"insert 2"}) {
		t.Errorf("calls %v", b.vectors.calls)
	}
}

// The reconciler repeats a failed push when it is due, and creates no duplicates of
// records that the failed push wrote.
func TestReconcile_RepeatsFailedPush(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.vectors.set(func(string, []string) error { return unavailable })
	b.PushNew(t.Context(), b.insert(7)) // the insert succeeds, but its answer is lost
	if n := b.backlog().Pending; n != 7 {
		t.Fatalf("%d pending, want 7", n)
	}
	b.vectors.set(nil)
	b.reconcile(t.Context())
	if b.backlog().Pending != 7 {
		t.Error("a failed push is repeated before it is due")
	}
	b.clock.Advance(time.Second)
	for b.reconcile(t.Context()) {
	}
	if got := b.stored(); len(got) != 7 || b.backlog().Pending != 0 {
		t.Errorf("stored %v, backlog %+v", got, b.backlog())
	}
	if !slices.Equal(b.vectors.calls, []string{"insert 7", "replace 3", "replace 3", "replace 1"}) {
		t.Errorf("calls %v", b.vectors.calls)
	}
}

// unrecorded is an outbox that does not record confirmed pushes while fail is set.
type unrecorded struct {
	db.VectorQueue
	fail bool
}

func (u *unrecorded) FinishVectors(ctx context.Context, done []db.VectorTask, at time.Time) error {
	if u.fail {
		return unavailable
	}
	return u.VectorQueue.FinishVectors(ctx, done, at)
}

// The rows are due at once: their claims have not ended, and the database may serve again.
func TestReconcile_RepeatsUnrecordedPush(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	outbox := &unrecorded{VectorQueue: b.outbox, fail: true}
	b.outbox = outbox
	b.PushNew(t.Context(), b.insert(2))
	outbox.fail = false
	b.reconcile(t.Context())
	if got := b.stored(); len(got) != 2 || b.backlog().Pending != 0 {
		t.Errorf("stored %v, backlog %+v", got, b.backlog())
	}
	if !slices.Equal(b.vectors.calls, []string{"insert 2", "replace 2"}) {
		t.Errorf("calls %v", b.vectors.calls)
	}
}

func TestReconcile_BacksOff(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.vectors.set(func(string, []string) error { return unavailable })
	b.PushNew(t.Context(), b.insert(1))
	tried := func() int {
		b.reconcile(t.Context())
		return len(b.vectors.calls)
	}
	for i, wait := range []time.Duration{1, 2, 4, 8, 10, 10} {
		b.clock.Advance(wait*time.Second - time.Microsecond)
		if n := tried(); n != i+1 {
			t.Errorf("tried %d times, want %d before %s have passed", n, i+1, wait*time.Second)
		}
		b.clock.Advance(time.Microsecond)
		if n := tried(); n != i+2 {
			t.Errorf("tried %d times, want %d when %s have passed", n, i+2, wait*time.Second)
		}
	}
	if oldest := b.backlog().Oldest; !oldest.Equal(begin) {
		t.Errorf("the push waits since %s, want %s", oldest, begin)
	}
}

func TestPushNew_WritesOthersDespiteBadRecord(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	memories := b.insert(3)
	b.vectors.set(func(_ string, ids []string) error {
		if slices.Contains(ids, memories[1].ID) {
			return memory.Errorf(memory.KindInvalid, "bad record")
		}
		return nil
	})
	b.PushNew(t.Context(), memories)
	if n := b.backlog().Pending; n != 1 {
		t.Errorf("%d pending, want the bad one", n)
	}
}

func TestPush_RemovesForgottenMemory(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	m := b.insert(1)[0]
	b.PushNew(t.Context(), []memory.Memory{m})
	m.Status = memory.Forgotten
	b.update(m)
	if n := b.backlog().Removing; n != 1 {
		t.Fatalf("%d removing", n)
	}
	b.Push(t.Context(), []string{m.ID})
	if got := b.stored(); len(got) != 0 || !b.settled() {
		t.Errorf("stored %v, backlog %+v", got, b.backlog())
	}
}

func TestPush_RepeatsAfterConcurrentChange(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	m := b.insert(1)[0]
	changed := false
	b.vectors.set(func(string, []string) error {
		if !changed {
			changed = true
			m.Content = "changed"
			m = b.update(m)
			b.Push(t.Context(), []string{m.ID}) // leaves it to the pusher that claimed it
		}
		return nil
	})
	b.PushNew(t.Context(), []memory.Memory{m})
	b.reconcile(t.Context())
	if got := b.stored(); !slices.Equal(got, []string{"changed"}) || b.backlog().Pending != 0 {
		t.Errorf("stored %v, backlog %+v", got, b.backlog())
	}
}

// The claim of a process that crashed between commit and push ends.
func TestReconcile_TakesOverFromCrashedPusher(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.insert(4)
	b.reconcile(t.Context())
	if len(b.stored()) != 0 {
		t.Error("claimed rows were pushed by another pusher")
	}
	b.clock.Advance(time.Minute + time.Microsecond)
	for b.reconcile(t.Context()) {
	}
	if len(b.stored()) != 4 || b.backlog().Pending != 0 {
		t.Errorf("stored %v, backlog %+v", b.stored(), b.backlog())
	}
}

func TestRun_ReconcilesUntilContextEnds(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.insert(5)
	b.clock.Advance(time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); b.Run(ctx) }()
	for deadline := time.Now().Add(5 * time.Minute); b.backlog().Pending > 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	cancel()
	<-done
	if len(b.stored()) != 5 {
		t.Errorf("stored %v", b.stored())
	}
}
