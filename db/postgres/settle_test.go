package postgres_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"hippocampus/db"
	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/memory"
)

// A change waits until the embedding by a new model is settled, and then writes the
// embedding that it has read before. Both tables must agree.
func TestUpdate_SeesTheSettlingItWaitedFor(t *testing.T) {
	t.Parallel()
	application := memory.NewID()
	url := postgrestest.URL(t) // which compares the tables when the test ends
	s := open(t, url+"&application_name="+application)
	settling, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer settling.Close(context.WithoutCancel(t.Context()))
	observer, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer observer.Close(context.WithoutCancel(t.Context()))
	m, _ := twoMemories(t, s)

	var group errgroup.Group
	err = pgx.BeginFunc(t.Context(), settling, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), `UPDATE agent_memories SET embedding_model = 'next' WHERE id = $1`,
			m.ID); err != nil {
			return err
		}
		if _, err := tx.Exec(t.Context(),
			`UPDATE embeddings SET model = 'next', embedding = '\x0000803f' WHERE memory_id = $1`, m.ID); err != nil {
			return err
		}
		group.Go(func() error {
			return s.InUser(t.Context(), m.Owner, func(ctx context.Context, tx db.UserTx) error { return tx.Update(ctx, m) })
		})
		return waitForALock(t.Context(), observer, application, 0)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	var model string
	if err := observer.QueryRow(t.Context(), `SELECT model FROM embeddings WHERE memory_id = $1`,
		m.ID).Scan(&model); err != nil || model != m.EmbeddingModel {
		t.Errorf("the embedding is by %q, the memory's by %q: %v", model, m.EmbeddingModel, err)
	}
}
