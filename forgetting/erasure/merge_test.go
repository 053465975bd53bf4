package erasure

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

var adaIntoBob = db.Merge{From: ada, Into: bob}

// wantMerged checks that what ada lived has moved. Copies in the pool stay there.
func (b *fixture) wantMerged(e db.Erasure) {
	b.t.Helper()
	memories := lived.Memories - 1
	if e.DoneAt.IsZero() || e.Deleted.Memories != memories || e.Deleted.Turns != lived.Turns {
		b.t.Errorf("the receipt: %+v", e)
	}
	if n := b.held(ada); n != 0 {
		b.t.Errorf("%d things of the former user are left", n)
	}
	list := b.memories(bob)
	if len(list) != 2*memories {
		b.t.Fatalf("%d memories, want those of both", len(list))
	}
	var ids []string
	active := 0
	for _, m := range list {
		ids = append(ids, m.ID)
		if m.Status == memory.Active {
			active++
		}
	}
	b.push.Push(b.t.Context(), ids)
	if n, err := b.vectors.CountOwner(b.t.Context(), bob); err != nil || n != active {
		b.t.Errorf("%d vectors of %d active memories, %v", n, active, err)
	}
}

func TestMerge_MovesAUserInEveryStore(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.live(ada)
	b.live(bob)
	e, err := b.Merge(t.Context(), adaIntoBob)
	b.must(err)
	b.wantMerged(e)
	again, err := b.Merge(t.Context(), adaIntoBob)
	b.must(err)
	if again != e {
		t.Errorf("merged again: %+v, want the receipt %+v", again, e)
	}
	if _, err := b.Merge(t.Context(), db.Merge{From: bob, Into: ada, New: true}); err != nil {
		t.Errorf("the former id is free again: %v", err)
	}
}

// More rows than one step moves. Recall learns of each step, so that it stores the index of the user who has grown.
func TestMerge_MovesManyRows(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	told := map[memory.Owner][]int{}
	b.OnMoved = func(owner memory.Owner, n int) { told[owner] = append(told[owner], n) }
	var many []memory.Memory
	for i := range 2*batch + 1 {
		many = append(many, unsaved(fmt.Sprint("number ", i)))
	}
	b.must(b.store.InUser(t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
		return tx.Insert(ctx, many, b.push.ClaimedUntil())
	}))
	b.push.PushNew(t.Context(), many)
	e, err := b.Merge(t.Context(), adaIntoBob)
	b.must(err)
	if e.Deleted.Memories != len(many) || e.Deleted.Vectors != len(many) {
		t.Errorf("moved %+v", e.Deleted)
	}
	if want := map[memory.Owner][]int{bob: {batch, batch, 1}}; !maps.EqualFunc(told, want, slices.Equal) {
		t.Errorf("told of %v, want %v", told, want)
	}
}

// A turn that is being processed while its user is merged yields its memory once, for the other user.
func TestMerge_LosesNoTurnInProgress(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	for i, hook := range []*func(){&b.scored, &b.embedded} {
		b.turn(ada)
		*hook = func() {
			_, err := b.Merge(t.Context(), adaIntoBob)
			b.must(err)
		}
		b.process()
		b.clock.Advance(retry * 10)
		b.process()
		if n := b.held(ada); n != 0 {
			t.Errorf("%d things are back", n)
		}
		turns, err := b.store.ListTurns(t.Context(), db.TurnFilter{AppID: bob.AppID, UserID: bob.UserID, Limit: 10})
		b.must(err)
		for _, turn := range turns {
			if turn.Status != memory.TurnProcessed {
				t.Errorf("turn of round %d: %s %s", i, turn.Status, turn.LastError)
			}
		}
		if len(turns) != i+1 {
			t.Errorf("%d turns, want %d", len(turns), i+1)
		}
	}
	if list := b.memories(bob); len(list) == 0 {
		t.Error("the turns yielded nothing")
	}
}

func (m *crashing) MoveSome(
	ctx context.Context, e db.Erasure, into memory.Owner, step db.EraseStep,
) (some db.ErasedSome, err error) {
	err = m.step(func() error { some, err = m.Records.MoveSome(ctx, e, into, step); return err })
	return some, err
}

// Wherever the process dies, the next call or the job continues, and the receipt counts each row once.
func TestMerge_CompletesAfterACrashAtEachStep(t *testing.T) {
	t.Parallel()
	for at, calls := 1, 1; at <= calls; at++ {
		for _, late := range []bool{false, true} {
			b := newFixture(t)
			b.live(ada)
			b.live(bob)
			dying := &crashing{Records: b.store, vectors: b.vectors, at: at, late: late}
			b.Service.records, b.Service.vectors = dying, dying
			_, err := b.Merge(t.Context(), adaIntoBob)
			b.Service.records, b.Service.vectors = b.store, b.vectors
			if err == nil {
				e, err := b.Merge(t.Context(), adaIntoBob)
				b.must(err)
				b.wantMerged(e)
				continue
			}
			calls = at + 1
			if !memory.IsKind(err, memory.KindUnavailable) && !errors.Is(err, db.ErrErased) {
				t.Fatalf("died at %d: %v", at, err)
			}
			b.clock.Advance(retry)
			_, err = b.Work(t.Context(), EraseUser{AppID: ada.AppID, UserID: ada.UserID, Into: bob.UserID})
			b.must(err)
			e, err := b.Merge(t.Context(), adaIntoBob)
			b.must(err)
			b.wantMerged(e)
		}
	}
}
