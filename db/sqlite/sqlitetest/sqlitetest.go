// Package sqlitetest lends tests a database file of their own, with the schema
// of this version in it:
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

// Path makes a database without rows, removed when the test ends, and returns
// where it is.
func Path(t testing.TB) string {
	t.Helper()
	empty, err := migrated()
	if err != nil {
		t.Fatalf("making an empty database: %v", err)
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
	// Closed, all of it is in the one file.
	if err := errors.Join(s.Migrate(context.Background()), s.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})
