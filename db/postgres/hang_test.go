package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/db/postgres"
	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/memory"
)

const hangTimeout = 2 * time.Second

func openThrough(t *testing.T, url string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), postgres.Options{URL: url, Timeout: hangTimeout, MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// untilAvailable repeats a call until Postgres is available: a busy machine can exceed hangTimeout
// without a hang, and a session that hung keeps its locks until Postgres ends it.
func untilAvailable(t *testing.T, what string, call func() error) {
	t.Helper()
	for began := time.Now(); ; {
		err := call()
		if err == nil {
			return
		}
		if !memory.IsKind(err, memory.KindUnavailable) || time.Since(began) > time.Minute {
			t.Fatalf("%s: %v", what, err)
		}
	}
}

// A host that vanishes inside a transaction sends neither an end nor a reset.
func TestInUser_FreesTheLockOfAVanishedHost(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	proxy := postgrestest.NewProxy(t, url)
	vanishing, other := openThrough(t, proxy.URL), openThrough(t, url)
	if err := other.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	owner := memory.Owner{AppID: "app", UserID: "user"}
	inside, vanished := make(chan struct{}), make(chan error, 1)
	go func() {
		for begun := false; ; { // a busy machine can exceed hangTimeout before the transaction begins
			err := vanishing.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
				begun = true
				proxy.Hang()
				close(inside)
				_, err := tx.Memories(ctx, []string{memory.NewID()})
				return err
			})
			if begun || !memory.IsKind(err, memory.KindUnavailable) {
				vanished <- err
				return
			}
		}
	}()
	select {
	case <-inside:
	case err := <-vanished:
		t.Fatalf("before the host vanishes: %v", err)
	}
	began := time.Now()
	untilAvailable(t, "while the lock is held", func() error {
		return other.InUser(t.Context(), owner, func(context.Context, db.UserTx) error { return nil })
	})
	t.Logf("the lock was free after %s", time.Since(began))
	if err := <-vanished; !memory.IsKind(err, memory.KindUnavailable) {
		t.Errorf("the transaction of the vanished host: got %v, want an error of kind unavailable", err)
	}
}

// Every wait ends, although the connection stays open and no context ends.
func TestStore_AnswersWhilePostgresHangs(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	proxy := postgrestest.NewProxy(t, url)
	s := openThrough(t, proxy.URL)
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	owner := memory.Owner{AppID: "app", UserID: "user"}
	calls := map[string]func() error{
		"a query": func() error { _, err := s.Documents(t.Context(), owner); return err },
		"a batch": func() error {
			_, err := s.Recalled(t.Context(), owner, []string{memory.NewID()}, nil)
			return err
		},
		"a count over an app": func() error { _, err := s.Stats(t.Context(), "app"); return err },
		"a bookkeeping change": func() error {
			return s.EndTurns(t.Context(), []db.EndedTurn{{ID: memory.NewID()}}, time.Now())
		},
		"a user's write": func() error {
			return s.InUser(t.Context(), owner, func(context.Context, db.UserTx) error { return nil })
		},
		"another write of the user": func() error {
			return s.InUser(t.Context(), owner, func(context.Context, db.UserTx) error { return nil })
		},
		"an export": func() error {
			_, err := s.Export(t.Context(), db.ExportPage{AppID: "app", UserID: "user", Limit: 10})
			return err
		},
	}
	for name, call := range calls { // also makes the connections
		untilAvailable(t, name+" before", call)
	}
	proxy.Hang()
	var group sync.WaitGroup
	for name, call := range calls {
		group.Go(func() {
			began := time.Now()
			err := call()
			if !memory.IsKind(err, memory.KindUnavailable) {
				t.Errorf("%s: got %v, want an error of kind unavailable", name, err)
			}
			t.Logf("%s after %s: %v", name, time.Since(began), err)
		})
	}
	group.Wait()
	proxy.Resume()
	for name, call := range calls {
		untilAvailable(t, name+" after it", call)
	}
}
