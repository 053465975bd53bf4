package erasure

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// lived is what fixture.live stores, as counted in a receipt. A copy in the pool is a memory, and its vector is not
// counted.
var lived = db.Erased{Memories: 4, Turns: 2, Candidates: 1, Events: 4, Announcements: 4, Jobs: 2, Vectors: 2}

func TestErase_RemovesAUserFromEveryStore(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.live(ada)
	b.live(bob)
	bobs := b.held(bob)
	want := db.Erasure{Owner: ada, Round: 1, RequestedAt: noon, DoneAt: noon, Deleted: lived}
	if got := b.erased(ada); got != want {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if n := b.held(bob); n != bobs {
		t.Errorf("%d things of another are left of %d", n, bobs)
	}
	if turns, erasing := b.jobs("process_turn"), b.jobs("erase_user"); turns != 2 || erasing != 0 {
		t.Errorf("%d jobs about turns and %d of erasures are left, want the other user's 2 and none", turns, erasing)
	}
	want.Round, want.Deleted = 2, db.Erased{}
	if got := b.erased(ada); got != want {
		t.Errorf("erased again: got %+v\nwant %+v", got, want)
	}
	b.live(ada) // can write again
	if got := b.erased(ada).Deleted; got != lived {
		t.Errorf("erased once more: got %+v\nwant %+v", got, lived)
	}
}

// Vectors without a row are deleted also.
func TestErase_DeletesVectorsWithoutARow(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	orphan := vectorstore.Record{ID: memory.NewID(), Owner: ada, Content: "left over", CreatedAt: noon,
		Embedding: make([]float32, 64)}
	orphan.Embedding[0] = 1
	b.must(b.vectors.Insert(t.Context(), []vectorstore.Record{orphan}))
	if got := b.erased(ada).Deleted; got != (db.Erased{Vectors: 1}) {
		t.Errorf("deleted %+v", got)
	}
}

// unsaved is a memory of ada's that is not stored yet.
func unsaved(content string) memory.Memory {
	m := memory.Memory{
		ID: memory.NewID(), Owner: ada, Content: content, Type: memory.TypeFact, Domain: memory.GeneralChat,
		Status:    memory.Active,
		CreatedAt: noon, UpdatedAt: noon, LastAccessedAt: noon, Revision: 1, EmbeddingModel: "m",
		Embedding: make([]float32, 64),
	}
	m.Embedding[0] = 1
	return m
}

// The user has more rows than one step deletes.
func TestErase_DeletesManyRows(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	var many []memory.Memory
	for i := range 2*batch + 1 {
		many = append(many, unsaved(fmt.Sprint("number ", i)))
	}
	b.must(b.store.InUser(t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
		return tx.Insert(ctx, many, b.push.ClaimedUntil())
	}))
	b.push.PushNew(t.Context(), many)
	if got := b.erased(ada).Deleted; got != (db.Erased{Memories: len(many), Vectors: len(many)}) {
		t.Errorf("deleted %+v", got)
	}
}

// away is a vector store that is unavailable until it is back.
type away struct {
	Vectors
	back bool
}

func (a *away) fail() error {
	if a.back {
		return nil
	}
	return memory.Errorf(memory.KindUnavailable, "the vector store is unavailable")
}

func (a *away) Delete(ctx context.Context, ids []string) error {
	if err := a.fail(); err != nil {
		return err
	}
	return a.Vectors.Delete(ctx, ids)
}

func (a *away) DeleteOwner(ctx context.Context, owner memory.Owner) (int, error) {
	if err := a.fail(); err != nil {
		return 0, err
	}
	return a.Vectors.DeleteOwner(ctx, owner)
}

// If the vector store is unavailable the rows are deleted, the user stays marked, and the job ends the erasure once
// the store is back.
func TestErase_ContinuesAfterTheVectorStoreWasUnavailable(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.live(ada)
	down := &away{Vectors: b.vectors}
	b.Service.vectors = down
	for range 2 {
		if _, err := b.Erase(t.Context(), ada); !memory.IsKind(err, memory.KindUnavailable) {
			t.Fatalf("while the vector store is away: %v", err)
		}
		if n := b.held(ada); n != lived.Vectors {
			t.Errorf("%d things are left, want the %d vectors", n, lived.Vectors)
		}
		if n := b.jobs("erase_user"); n != 1 {
			t.Errorf("%d jobs are to end the erasure, want 1", n)
		}
		b.wantMarked(ada)
	}
	down.back = true
	b.clock.Advance(retry)
	runner, err := jobs.New(b.store.Driver(), jobs.Options{
		Workers: 1, Poll: 10 * time.Millisecond, Timeout: time.Minute, Processes: b.store,
		Log: slog.New(slog.DiscardHandler),
	}, jobs.HandleResult(time.Minute, b.Work))
	b.must(err)
	b.must(runner.Start(t.Context()))
	defer func() { b.must(runner.Stop(context.Background())) }()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		e, err := b.store.Erasure(t.Context(), ada)
		b.must(err)
		if !e.DoneAt.IsZero() {
			if e.Deleted != lived || e.Round != 1 {
				t.Errorf("the erasure that the job has ended: %+v", e)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the job has not ended the erasure")
		}
	}
	if held, left := b.held(ada), b.jobs("erase_user"); held != 0 || left != 0 {
		t.Errorf("%d things and %d jobs are left", held, left)
	}
	b.write(ada, "Is welcome again.")
}

// Erase waits for a push in progress, which cannot restore anything; the receipt counts what it pushed.
func TestErase_WaitsForPushesInProgress(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.write(ada, "Likes tea.")
	slow := unsaved("Likes jazz.")
	b.must(b.store.InUser(t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
		return tx.Insert(ctx, []memory.Memory{slow}, b.push.ClaimedUntil())
	}))
	type answer struct {
		receipt db.Erasure
		err     error
	}
	erased := make(chan answer, 1)
	go func() {
		receipt, err := b.Erase(t.Context(), ada)
		erased <- answer{receipt, err}
	}()
	for len(b.memories(ada)) != 1 {
		time.Sleep(time.Millisecond)
	}
	select {
	case a := <-erased:
		t.Fatalf("the erasure ends while a push is under way: %+v", a)
	case <-time.After(100 * time.Millisecond):
	}
	b.push.PushNew(t.Context(), []memory.Memory{slow})
	a := <-erased
	b.must(a.err)
	if n := b.held(ada); n != 0 {
		t.Errorf("%d things are left", n)
	}
	if want := (db.Erased{Memories: 2, Events: 1, Announcements: 1, Vectors: 2}); a.receipt.Deleted != want {
		t.Errorf("the receipt says %+v, want %+v", a.receipt.Deleted, want)
	}
}

// hooked calls f before a deletion by user.
type hooked struct {
	Vectors
	f func()
}

func (h *hooked) DeleteOwner(ctx context.Context, owner memory.Owner) (int, error) {
	if f := h.f; f != nil {
		h.f = nil
		f()
	}
	return h.Vectors.DeleteOwner(ctx, owner)
}

// Of two concurrent erasures of one user, the late one does not damage what was written in the meantime.
func TestErase_ReturnsTheReceiptOfAnotherProcess(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.live(ada)
	b.Service.vectors = &hooked{b.vectors, func() {
		_, err := New(b.store, b.vectors, func(memory.Owner) {}, b.clock.Now, b.log).Erase(t.Context(), ada)
		b.must(err)
		b.write(ada, "Is here again.")
	}}
	done, err := b.Erase(t.Context(), ada)
	b.must(err)
	if done.Round != 1 || done.DoneAt.IsZero() || done.Deleted.Memories != lived.Memories {
		t.Errorf("the receipt of the other: %+v", done)
	}
	list := b.memories(ada)
	if len(list) != 1 {
		t.Fatalf("%d memories are there, want the one that is new", len(list))
	}
	b.push.Push(t.Context(), []string{list[0].ID})
	if n, err := b.vectors.CountOwner(t.Context(), ada); err != nil || n != 1 {
		t.Errorf("%d vectors of the new memory, %v", n, err)
	}
}
