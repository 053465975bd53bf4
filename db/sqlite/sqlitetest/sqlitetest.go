// Package sqlitetest gives each test its own database file with the schema of this
// version:
//
//	all migrations, once in a process -> bytes -> a file for each test
package sqlitetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"hippocampus/db/sqlite"
)

// Path creates a database without rows, which is removed when the test ends, and
// returns its path.
func Path(t testing.TB) string {
	t.Helper()
	empty, err := migrated()
	if err != nil {
		t.Fatalf("create an empty database: %v", err)
	}
	path := filepath.Join(t.TempDir(), "hippocampus.db")
	if err := os.WriteFile(path, empty, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

var migrated = sync.OnceValues(func() (file []byte, err error) {
	dir, err := os.MkdirTemp("", "hippocampus-test-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "hippocampus.db")
	s, err := sqlite.Open(context.Background(), sqlite.Options{Path: path})
	if err != nil {
		return nil, err
	}
	// Closing the store moves all of it into the one file.
	if err := errors.Join(s.Migrate(context.Background()), s.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})
