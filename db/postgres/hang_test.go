package postgres_test

import (
	"context"
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
		vanished <- vanishing.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
			proxy.Hang()
			close(inside)
			_, err := tx.Memories(ctx, []string{memory.NewID()})
			return err
		})
	}()
	<-inside
	began := time.Now()
	for {
		err := other.InUser(t.Context(), owner, func(context.Context, db.UserTx) error { return nil })
		if err == nil {
			break
		}
		if !memory.IsKind(err, memory.KindUnavailable) {
			t.Fatalf("while the lock is held: %v", err)
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("the lock is still held: %v", err)
		}
	}
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
		"a count over an app":  func() error { _, err := s.Stats(t.Context(), "app"); return err },
		"a bookkeeping change": func() error { return s.EndTurns(t.Context(), []string{memory.NewID()}, time.Now()) },
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
		if err := call(); err != nil {
			t.Fatalf("%s before: %v", name, err)
		}
	}
	proxy.Hang()
	t.Run("all at once", func(t *testing.T) {
		for name, call := range calls {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				began := time.Now()
				err := call()
				if !memory.IsKind(err, memory.KindUnavailable) {
					t.Errorf("got %v, want an error of kind unavailable", err)
				}
				t.Logf("after %s: %v", time.Since(began), err)
			})
		}
	})
	proxy.Resume()
	for name, call := range calls {
		if err := call(); err != nil {
			t.Errorf("%s after it: %v", name, err)
		}
	}
}
