package postgres_test

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"hippocampus/db"
	"hippocampus/db/postgres"
	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/memory"
)

// A user's transaction changes b, a batch locks a and waits for b, and then the
// transaction changes a. Postgres ends one of the two, and both succeed.
func TestStore_RetriesDeadlocks(t *testing.T) {
	t.Parallel()
	touch := func(ctx context.Context, s *postgres.Store, a, b memory.Memory) error {
		return s.Touch(ctx, []db.Touch{
			{Owner: a.Owner, ID: a.ID, Count: 1, At: a.UpdatedAt},
			{Owner: b.Owner, ID: b.ID, Count: 1, At: b.UpdatedAt},
		})
	}
	for name, c := range map[string]struct {
		batch func(ctx context.Context, s *postgres.Store, a, b memory.Memory) error
		// Postgres looks for a deadlock once, when a wait has lasted for
		// deadlock_timeout. If the batch has waited for longer before the deadlock,
		// the transaction finds it and is ended.
		timeouts float64
	}{
		"touch":                           {touch, 0},
		"touch, the transaction is ended": {touch, 1.5},
		"claim": {func(ctx context.Context, s *postgres.Store, a, b memory.Memory) error {
			_, err := s.ClaimVectors(ctx, []string{a.ID, b.ID}, a.UpdatedAt, a.UpdatedAt.Add(time.Minute))
			return err
		}, 0},
		"finish": {func(ctx context.Context, s *postgres.Store, a, b memory.Memory) error {
			return s.FinishVectors(ctx, []db.VectorTask{{Memory: a}, {Memory: b}}, a.UpdatedAt)
		}, 0},
		"retry": {func(ctx context.Context, s *postgres.Store, a, b memory.Memory) error {
			return s.RetryVectors(ctx, []db.VectorRetry{{ID: a.ID, Due: a.UpdatedAt}, {ID: b.ID, Due: b.UpdatedAt}})
		}, 0},
		"requeue": {func(ctx context.Context, s *postgres.Store, a, b memory.Memory) error {
			_, err := s.Requeue(ctx, []string{a.ID, b.ID}, a.UpdatedAt)
			return err
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			name := memory.NewID()
			url := postgrestest.URL(t)
			s := open(t, url+"&application_name="+name)
			observer, err := pgx.Connect(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			defer observer.Close(context.WithoutCancel(t.Context()))
			a, b := twoMemories(t, s)

			var group errgroup.Group
			runs := 0
			err = s.InUser(t.Context(), a.Owner, func(ctx context.Context, tx db.UserTx) error {
				if err := tx.Update(ctx, b); err != nil {
					return err
				}
				runs++
				if runs == 1 {
					group.Go(func() error { return c.batch(t.Context(), s, a, b) })
					if err := waitForALock(ctx, observer, name, c.timeouts); err != nil {
						return err
					}
				}
				return tx.Update(ctx, a)
			})
			if err != nil {
				t.Errorf("the transaction: %v", err)
			}
			if err := group.Wait(); err != nil {
				t.Errorf("the batch: %v", err)
			}
			if c.timeouts > 1 && runs < 2 {
				t.Error("the transaction was not ended")
			}
			for _, m := range []memory.Memory{a, b} {
				if stored, err := s.Memory(t.Context(), m.AppID, m.ID); err != nil || stored.Revision != m.Revision {
					t.Errorf("a change is lost: %+v, %v", stored, err)
				}
			}
		})
	}
}

// twoMemories stores two memories and returns them in the order of their ids, with
// a change that is not stored.
func twoMemories(t *testing.T, s *postgres.Store) (a, b memory.Memory) {
	t.Helper()
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	both := make([]memory.Memory, 2)
	for i := range both {
		both[i] = memory.Memory{
			ID: memory.NewID(), Owner: memory.Owner{AppID: "app", UserID: t.Name()}, Content: "x", Type: memory.TypeFact,
			Domain: memory.GeneralChat, Status: memory.Active, CreatedAt: at, UpdatedAt: at, Revision: 1,
			Embedding: []float32{1}, EmbeddingModel: "model",
		}
	}
	slices.SortFunc(both, func(a, b memory.Memory) int { return cmp.Compare(a.ID, b.ID) })
	err := s.InUser(t.Context(), both[0].Owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.Insert(ctx, both, time.Time{})
	})
	if err != nil {
		t.Fatal(err)
	}
	both[0].Revision, both[1].Revision = 2, 2
	return both[0], both[1]
}

// waitForALock returns when a connection of the application has waited for a lock
// for the given number of deadlock timeouts.
func waitForALock(ctx context.Context, observer *pgx.Conn, application string, timeouts float64) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	for waits := false; !waits; {
		err := observer.QueryRow(ctx, `
			SELECT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'
				AND clock_timestamp() - query_start > $2 * current_setting('deadlock_timeout')::interval)`,
			application, timeouts).Scan(&waits)
		if err != nil {
			return err
		}
	}
	return nil
}
