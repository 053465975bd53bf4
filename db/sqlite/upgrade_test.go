package sqlite

import (
	"path/filepath"
	"strings"
	"testing"

	"hippocampus/db/sqlstore"
	"hippocampus/internal/memory"
)

// Several migrations have made the tables, and the database lists each.
func TestMigrate_ContinuesFromTheVersionOfTheSchema(t *testing.T) {
	t.Parallel()
	s := ofVersions(t, 1, sqlstore.Schema-1, sqlstore.Schema)
	if err := s.Migrate(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestMigrate_RefusesTablesOfEarlierVersions(t *testing.T) {
	t.Parallel()
	for _, versions := range [][]int64{{1}, {1, sqlstore.Schema - 1}} {
		s := ofVersions(t, versions...)
		for range 2 {
			err := s.Migrate(t.Context())
			if !memory.IsKind(err, memory.KindConflict) || !strings.Contains(err.Error(), "`hippocampus import`") {
				t.Errorf("versions %d: got %v, want a refusal that says what to do", versions, err)
			}
		}
	}
}

// ofVersions returns a store with the tables of the schema that lists the versions as the migrations that made them.
func ofVersions(t *testing.T, versions ...int64) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "test.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	migrations, err := s.migrations()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrations.Tables.UpTo(t.Context(), sqlstore.Schema); err != nil {
		t.Fatal(err)
	}
	if _, err := s.writer.ExecContext(t.Context(), `DELETE FROM goose_db_version WHERE version_id > 0`); err != nil {
		t.Fatal(err)
	}
	for _, version := range versions {
		if _, err := s.writer.ExecContext(t.Context(),
			`INSERT INTO goose_db_version (version_id, is_applied) VALUES (?, 1)`, version); err != nil {
			t.Fatal(err)
		}
	}
	return s
}
