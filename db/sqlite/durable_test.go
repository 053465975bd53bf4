package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
)

// pragma reads a setting of a connection or of a transaction's connection.
func pragma(t *testing.T, on interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}, name string) (value string) {
	t.Helper()
	if err := on.QueryRowContext(t.Context(), `PRAGMA `+name).Scan(&value); err != nil {
		t.Error(err)
	}
	return value
}

const full, normal = "2", "1"

// Commits after an asynchronous one are durable again.
func TestStore_CommitsAreDurableUnlessAsynchronous(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "test.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want := func(when string) {
		t.Helper()
		for name, want := range map[string]string{"journal_mode": "wal", "synchronous": full, "foreign_keys": "1"} {
			if got := pragma(t, s.writer, name); got != want {
				t.Errorf("%s: %s is %q, want %q", when, name, got, want)
			}
		}
	}
	want("at first")
	fails := errors.New("fails")
	for name, result := range map[string]error{"an asynchronous write": nil, "an asynchronous write that fails": fails} {
		for range 2 { // the second time with prepared statements
			if err := s.writeAsync(t.Context(), func(tx *sql.Tx) error {
				if got := pragma(t, tx, "synchronous"); got != normal {
					t.Errorf("%s: synchronous is %q", name, got)
				}
				return result
			}); !errors.Is(err, result) {
				t.Errorf("%s: %v", name, err)
			}
			want("after " + name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := s.writeAsync(ctx, func(*sql.Tx) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("an asynchronous write whose context ends: %v", err)
	}
	want("after an asynchronous write whose context ended")
	if err := s.write(t.Context(), func(tx *sql.Tx) error {
		if got := pragma(t, tx, "synchronous"); got != full {
			t.Errorf("a write: synchronous is %q", got)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}
