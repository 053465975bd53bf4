package projection

import (
	"context"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// late erases a user between the reading and the writing of a copy.
type late struct {
	Records
	erase func()
}

func (l *late) Embeddings(
	ctx context.Context, owner memory.Owner, model string, ids []string,
) (map[string][]float32, error) {
	found, err := l.Records.Embeddings(ctx, owner, model, ids)
	if l.erase != nil && owner == ada {
		l.erase()
		l.erase = nil
	}
	return found, err
}

// job is the job of an erasure; no worker runs it.
type job struct{}

func (job) Kind() string { return "erase" }

// The copy of a rebuild does not bring back a user who is erased during it.
func TestRebuild_DropsErasedUser(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b *fixture, _ func() vectorstore.Store) {
		ctx := t.Context()
		b.PushNew(ctx, b.insert(30))
		other := memory.Memory{
			ID: memory.NewID(), Owner: memory.Owner{AppID: "app", UserID: "bob"}, Content: "bob's",
			Type: memory.TypeFact, Domain: memory.GeneralChat,
			Status: memory.Active, CreatedAt: begin, UpdatedAt: begin, LastAccessedAt: begin,
			Embedding: []float32{1, 0, 0, 0}, EmbeddingModel: space.Model, Revision: 1,
		}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		must(b.store.InUser(ctx, other.Owner, func(ctx context.Context, tx db.UserTx) error {
			return tx.Insert(ctx, []memory.Memory{other}, b.ClaimedUntil())
		}))
		b.PushNew(ctx, []memory.Memory{other})
		erase := func() {
			e, err := b.store.BeginErasure(ctx, ada, begin, begin.Add(time.Hour), job{})
			must(err)
			some, err := b.store.EraseSome(ctx, e, db.EraseStep{Now: begin, Limit: 1000, Keep: job{}.Kind()})
			must(err)
			n, err := b.vectors.DeleteOwner(ctx, ada)
			must(err)
			_, err = b.store.EndErasure(ctx, e, begin, n)
			must(err)
			if some.Deleted.Memories != 30 || n != 30 {
				t.Errorf("%d rows and %d records were erased, want 30 of each", some.Deleted.Memories, n)
			}
		}
		u := NewMaintenance(&late{b.store, erase}, b.vectors.Store, b.Projection, b.clock.Now, zaptest.NewLogger(t))
		store, ok := b.vectors.Store.(vectorstore.Rebuilder)
		if !ok {
			t.Fatal("the store is not a vectorstore.Rebuilder")
		}
		_, copied, err := u.Fill(ctx, store, space)
		must(err)
		if copied != 31 {
			t.Errorf("%d memories were copied, want all 31 that were read", copied)
		}
		var left []string
		must(b.vectors.Scan(ctx, "", 100, func(r vectorstore.Record) error {
			left = append(left, r.Content)
			return nil
		}))
		if len(left) != 1 || left[0] != "bob's" {
			t.Errorf("after the rebuild the store holds %q", left)
		}
	})
}
