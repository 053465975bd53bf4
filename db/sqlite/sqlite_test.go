package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"hippocampus/db"
	"hippocampus/db/dbtest"
	"hippocampus/db/sqlite"
	"hippocampus/db/sqlite/sqlitetest"
)

func TestStore_Conformance(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T) db.Store {
		path := filepath.Join(t.TempDir(), "a b?#%20.db")
		if err := os.Rename(sqlitetest.Path(t), path); err != nil {
			t.Fatal(err)
		}
		return open(t, path)
	})
}

// open opens and migrates a store that is closed when the test ends.
func open(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}
