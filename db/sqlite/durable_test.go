package sqlite

import (
	"path/filepath"
	"testing"
)

// TestDurable: each commit is on the disk before it is answered.
func TestDurable(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "test.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1"} { // 2: FULL
		var got string
		if err := s.writer.QueryRowContext(t.Context(), `PRAGMA `+pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q, want %q: %v", pragma, got, want, err)
		}
	}
}
