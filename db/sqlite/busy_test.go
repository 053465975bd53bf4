package sqlite

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// A write waits for another process for longer than SQLite does itself, or until
// its context ends.
func TestRetryBusy_OutlastsAnotherProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	ours, other := opened(t, path), opened(t, path)
	if _, err := ours.writer.ExecContext(t.Context(), `PRAGMA busy_timeout = 1`); err != nil {
		t.Fatal(err)
	}
	nothing := func(context.Context, db.UserTx) error { return nil }
	one, another := memory.Owner{AppID: "app", UserID: "one"}, memory.Owner{AppID: "app", UserID: "another"}
	wrote, touched := make(chan error, 1), make(chan error, 1)
	err := other.InUser(t.Context(), one, func(context.Context, db.UserTx) error {
		if _, err := ours.writer.ExecContext(t.Context(), `UPDATE agent_memories SET domain = ''`); !isBusy(err) {
			t.Errorf("got %v, want SQLITE_BUSY", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		err := ours.InUser(ctx, another, nothing)
		if !memory.IsKind(err, memory.KindUnavailable) || ctx.Err() == nil && !isBusy(err) {
			t.Errorf("got %v, want an error of kind unavailable", err) // SQLite may report the end of ctx as an interruption
		}
		go func() { wrote <- ours.InUser(t.Context(), another, nothing) }()
		for len(ours.queue) == 0 { // until it waits for the lock
			time.Sleep(time.Millisecond)
		}
		go func() {
			_, err := ours.exec(t.Context(), `UPDATE agent_memories SET domain = ''`)
			touched <- err
		}()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, done := range []chan error{wrote, touched} {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// opened returns a migrated store on a file.
func opened(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}
