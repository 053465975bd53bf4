package projection

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/tests/apptest"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/milvus"
)

// All rows are pushed again after a store lost its records, whether the loss is
// found when the server starts or while it runs.
func TestMaintenance_RecoversLostStore(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b *fixture, drop func() vectorstore.Store) {
		u := b.maintenance()
		must(t, u.Start(t.Context(), 0))
		m := b.insert(5)
		b.PushNew(t.Context(), m)
		b.clock.Advance(time.Hour)
		must(t, u.ensure(t.Context(), 0))
		if b.backlog().Pending != 0 {
			t.Fatalf("rows of a complete store are requeued: %+v", b.backlog())
		}

		b.vectors.Store = drop()
		if _, same := b.vectors.Store.(*milvus.Store); same {
			must(t, u.ensure(t.Context(), 0))
		} else { // a file is lost between two processes
			u = b.maintenance()
			must(t, u.Start(t.Context(), 0))
		}
		if n := b.backlog().Pending; n != 5 {
			t.Errorf("%d are pushed again, want all 5", n)
		}
		for b.reconcile(t.Context()) {
		}
		b.clock.Advance(2 * grace)
		if r := b.verify(u); r.Checked != 5 || r.Drift() != 0 {
			t.Errorf("after the recovery: %+v", r)
		}
		must(t, u.ensure(t.Context(), 0))
		if b.backlog().Pending != 0 {
			t.Error("the loss is recovered from twice")
		}
	})
}

// lost is a vector store whose collection does not exist until Ensure succeeds.
type lost struct {
	vectorstore.Store
	ensure func() error
	losses int
}

func (l *lost) Ping(context.Context) error {
	if l.losses == 0 {
		return vectorstore.ErrGone
	}
	return nil
}

func (l *lost) Ensure(context.Context) error {
	err := l.ensure()
	if err == nil {
		l.losses++
	}
	return err
}

func (l *lost) Losses() int { return l.losses }

// All rows are due before the collection is created again, and are requeued only
// once even if the creation fails several times.
func TestMaintenance_RequeuesBeforeEnsure(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.PushNew(t.Context(), b.insert(5))
	u, made := b.maintenance(), 0
	u.vectors = &lost{Store: b.vectors.Store, ensure: func() error {
		made++
		if made == 1 && b.backlog().Pending != 5 {
			t.Errorf("the collection is created while %+v", b.backlog())
		}
		if made < 3 {
			return errors.New("not now")
		}
		return nil
	}}
	_ = u.ensure(t.Context(), 0)
	for b.reconcile(t.Context()) {
	}
	for range 3 {
		_ = u.ensure(t.Context(), 0)
	}
	if b.backlog().Pending != 0 || made != 3 {
		t.Errorf("after %d tries %+v", made, b.backlog())
	}
}

// If the vector store is unavailable at the start, nothing is pushed before a missing
// collection has been created and all rows are due. Then everything is pushed.
func TestMaintenance_PushesNothingBeforeStart(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.PushNew(t.Context(), b.insert(5))
	away := memory.Errorf(memory.KindUnavailable, "not now")
	store := &lost{Store: apptest.VectorFile(t, filepath.Join(t.TempDir(), "new.db"), space), ensure: func() error {
		return away
	}}
	b.vectors.Store = store
	u := b.maintenance()
	u.vectors = store
	if err := u.Start(t.Context(), time.Minute); !errors.Is(err, away) {
		t.Fatalf("the start gives %v", err)
	}
	changed := b.insert(5)
	b.PushNew(t.Context(), changed)
	b.Push(t.Context(), ids(asTasks(changed)))
	for b.reconcile(t.Context()) {
	}
	if err := u.check(t.Context()); !errors.Is(err, away) || b.backlog().Pending != 10 {
		t.Errorf("while the store is unavailable: %v, %+v", err, b.backlog())
	}
	must(t, store.Scan(t.Context(), "", 1, func(r vectorstore.Record) error { return fmt.Errorf("%s was pushed", r.ID) }))

	store.ensure = func() error { return nil }
	must(t, u.check(t.Context()))
	for b.reconcile(t.Context()) {
	}
	if b.backlog().Pending != 0 {
		t.Errorf("after the start: %+v", b.backlog())
	}
	b.clock.Advance(2 * grace)
	if r := b.verify(u); r.Checked != 10 || r.Drift() != 0 {
		t.Errorf("after the start: %+v", r)
	}
}
