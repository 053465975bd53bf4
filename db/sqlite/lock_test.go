package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"hippocampus/db/sqlite"
	"hippocampus/internal/memory"
)

func TestLock_HoldsOneAtATime(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := sqlite.Lock(t.Context(), path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Lock(t.Context(), path, 0); !memory.IsKind(err, memory.KindUnavailable) {
		t.Fatalf("a second lock: %v, want an error of kind unavailable", err)
	}
	time.AfterFunc(50*time.Millisecond, func() { _ = unlock() })
	again, err := sqlite.Lock(t.Context(), path, time.Minute)
	if err != nil {
		t.Fatalf("a lock that waits: %v", err)
	}
	if err := again(); err != nil {
		t.Error(err)
	}
}
