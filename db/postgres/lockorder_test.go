package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hippocampus/db"
	"hippocampus/db/postgres"
	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/memory"
)

// Postgres may read the rows of a batch in any order, here the one in which they lie in
// the table. A batch that waits for its first row must not hold its second one.
func TestStore_LocksRowsInTheOrderOfTheirIDs(t *testing.T) {
	t.Parallel()
	for name, batch := range map[string]func(ctx context.Context, s *postgres.Store, a, b memory.Memory) error{
		"touch": func(ctx context.Context, s *postgres.Store, a, b memory.Memory) error {
			return s.Touch(ctx, []db.Touch{
				{Owner: b.Owner, ID: b.ID, Count: 1, At: a.UpdatedAt},
				{Owner: a.Owner, ID: a.ID, Count: 1, At: a.UpdatedAt},
			})
		},
		"claim": func(ctx context.Context, s *postgres.Store, a, b memory.Memory) error {
			_, err := s.ClaimVectors(ctx, []string{b.ID, a.ID}, a.UpdatedAt, a.UpdatedAt.Add(time.Minute))
			return err
		},
		"finish": func(ctx context.Context, s *postgres.Store, a, b memory.Memory) error {
			return s.FinishVectors(ctx, []db.VectorTask{{Memory: b}, {Memory: a}}, a.UpdatedAt)
		},
		"retry": func(ctx context.Context, s *postgres.Store, a, b memory.Memory) error {
			return s.RetryVectors(ctx, []db.VectorRetry{{ID: b.ID, Due: b.UpdatedAt}, {ID: a.ID, Due: a.UpdatedAt}})
		},
		"requeue": func(ctx context.Context, s *postgres.Store, a, b memory.Memory) error {
			_, err := s.Requeue(ctx, []string{b.ID, a.ID}, a.UpdatedAt)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			name, url := memory.NewID(), postgrestest.URL(t)
			s := open(t, url+"&application_name="+name+"&enable_nestloop=off&enable_indexscan=off&enable_bitmapscan=off")
			observer, err := pgx.Connect(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			defer observer.Close(context.WithoutCancel(t.Context()))
			a, b := twoMemories(t, s)
			// A changed row lies behind the others.
			const change = `UPDATE agent_memories SET access_count = 1 WHERE id = $1`
			if _, err := observer.Exec(t.Context(), change, a.ID); err != nil {
				t.Fatal(err)
			}

			tx, err := observer.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			const lock = `SELECT FROM agent_memories WHERE id = $1 FOR UPDATE NOWAIT`
			if _, err := tx.Exec(t.Context(), lock, a.ID); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- batch(t.Context(), s, a, b) }()
			if err := waitForALock(t.Context(), observer, name, 0); err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(t.Context(), lock, b.ID); err != nil {
				t.Errorf("the batch waits for its first row and holds its second one: %v", err)
			}
			if err := tx.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}
