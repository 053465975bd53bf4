package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"hippocampus/db"
	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/memory"
)

// A claim waits for a change of the content. It must then not return the embedding
// of the previous content by the model that is about to serve.
func TestClaimVectors_ReadsCurrentEmbeddings(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{"another content": "y", "the same content": "x"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			application := memory.NewID()
			url := postgrestest.URL(t)
			s := open(t, url+"&application_name="+application)
			observer, err := pgx.Connect(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			defer observer.Close(context.WithoutCancel(t.Context()))
			m, _ := twoMemories(t, s)
			next := memory.Space{Model: "next", Dim: 2}
			if err := s.Reembed(t.Context(), next,
				[]db.Reembedding{{ID: m.ID, Revision: 1, Embedding: []float32{0.6, 0.8}}}); err != nil {
				t.Fatal(err)
			}

			changes := content != m.Content
			m.Content = content
			m.EmbeddingModel = "now"
			m.Embedding = []float32{1, 0}
			var tasks []db.VectorTask
			var group errgroup.Group
			err = s.InUser(t.Context(), m.Owner, func(ctx context.Context, tx db.UserTx) error {
				if err := tx.Update(ctx, m); err != nil {
					return err
				}
				group.Go(func() (err error) {
					tasks, err = s.ClaimVectors(t.Context(), []string{m.ID}, m.UpdatedAt, m.UpdatedAt.Add(time.Minute))
					return err
				})
				return waitForALock(ctx, observer, application, 0)
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := group.Wait(); err != nil {
				t.Fatal(err)
			}
			if len(tasks) != 1 || tasks[0].Memory.Content != m.Content || tasks[0].Memory.Revision != 2 {
				t.Fatalf("claimed %+v", tasks)
			}
			if diff := cmp.Diff(m.Embedding, tasks[0].Memory.Embedding); diff != "" {
				t.Errorf("claimed with another embedding than it has (-want +got):\n%s", diff)
			}
			if beside := tasks[0].Memory.EmbeddingIn(next); (beside == nil) != changes {
				t.Errorf("the content %q is claimed with the embedding %v", m.Content, beside)
			}
		})
	}
}
