package projection

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"
	"golang.org/x/sync/errgroup"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// ownWindow is how long recall reads confirmed writes from the database.
const ownWindow = 10 * time.Second

// found returns the ids that recall finds by vectors: hits, and own writes from the database.
func (b *fixture) found(ctx context.Context) (map[string]bool, error) {
	hits, err := b.vectors.Search(ctx, vectorstore.Query{Owner: ada, Embedding: []float32{1, 0, 0, 0}, Limit: 10_000})
	if err != nil {
		return nil, err
	}
	own, err := b.store.Unconfirmed(ctx, ada, time.Now().Add(-ownWindow), 10_000)
	found := map[string]bool{}
	for _, h := range hits {
		found[h.ID] = true
	}
	for _, m := range own {
		found[m.ID] = true
	}
	return found, err
}

// During a rebuild with concurrent inserts, changes and removals, every search
// finds all memories that were active when it began.
func TestRebuild_KeepsServingUnderWrites(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b *fixture, _ func() vectorstore.Store) {
		log := zaptest.NewLogger(t)
		b.clock.Set(time.Now().UTC())
		b.Projection = New(b.store, b.vectors, b.set, time.Now, log)
		u := NewMaintenance(b.store, b.vectors.Store, b.Projection, time.Now, log)
		kept := b.insert(300)
		b.PushNew(t.Context(), kept)

		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var work errgroup.Group
		writes, searches := 0, 0
		work.Go(func() error { // inserts, changes and forgets
			for i := 0; ctx.Err() == nil; i++ {
				m := b.insert(2)
				b.PushNew(t.Context(), m)
				m[0].Status, m[1].Content = memory.Forgotten, fmt.Sprintf("changed %d", i)
				for j := range m {
					m[j] = b.update(m[j])
				}
				b.Push(t.Context(), []string{m[0].ID, m[1].ID})
				writes++
			}
			return nil
		})
		work.Go(func() error {
			for ctx.Err() == nil {
				docs, err := b.store.Documents(t.Context(), ada)
				if err != nil {
					return err
				}
				found, err := b.found(t.Context())
				if err != nil {
					return fmt.Errorf("search %d: %w", searches, err)
				}
				still, err := b.store.Documents(t.Context(), ada)
				if err != nil {
					return err
				}
				lost := slices.DeleteFunc(docs, func(d db.Document) bool {
					return found[d.ID] || !slices.ContainsFunc(still, func(s db.Document) bool { return s.ID == d.ID })
				})
				if len(lost) > 0 {
					return fmt.Errorf("search %d misses %d memories, such as %s", searches, len(lost), lost[0].ID)
				}
				searches++
			}
			return nil
		})
		for range 2 {
			done, err := u.Rebuild(t.Context())
			must(t, err)
			if done.Copied < len(kept) || done.Skipped != 0 || done.After.Drift() != 0 {
				t.Errorf("%+v", done)
			}
		}
		stop()
		must(t, work.Wait())
		u.pushDue(t.Context())
		later := NewMaintenance(b.store, b.vectors.Store, b.Projection,
			func() time.Time { return time.Now().Add(time.Hour) }, log)
		if r := b.verify(later); r.Drift() != 0 || r.InFlight != 0 || r.Checked != len(kept)+2*writes {
			t.Errorf("after the rebuild and %d writes: %+v", writes, r)
		}
		t.Logf("%d writes and %d searches during the rebuild", writes, searches)
		if searches == 0 || writes == 0 {
			t.Error("there were no writes or no searches during the rebuild")
		}
	})
}

func TestRebuild_SkipsEmbeddingsOfOtherModels(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	m := b.insert(3)
	b.PushNew(t.Context(), m)
	m[0].EmbeddingModel = "another"
	b.update(m[0])
	b.clock.Advance(time.Hour)
	done, err := b.maintenance().Rebuild(t.Context())
	if err != nil || done.Copied != 2 || done.Skipped != 1 {
		t.Errorf("%+v, %v", done, err)
	}
}
