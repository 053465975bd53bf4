package sqlite

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// SQLite reports a file that may not grow as it reports a full disk. Reads still work.
func TestPing_ReportsAFullDisk(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "test.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.writer.ExecContext(t.Context(), `PRAGMA max_page_count = 1`); err != nil { // at least what it has
		t.Fatal(err)
	}
	owner := memory.Owner{AppID: "app", UserID: "user"}
	err = s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.Insert(ctx, []memory.Memory{{
			ID: memory.NewID(), Owner: owner, Content: strings.Repeat("x", 4000), Type: memory.TypeFact,
			Domain: memory.GeneralChat, Status: memory.Active, Revision: 1, Embedding: make([]float32, 4096),
		}}, time.Time{})
	})
	if !memory.IsKind(err, memory.KindUnavailable) {
		t.Errorf("a change on a full disk: %v", err)
	}
	if err := s.Ping(t.Context()); memory.ReasonOf(err) != memory.ReasonDiskFull {
		t.Errorf("got %v, want an error with the reason of the full disk", err)
	}
}
