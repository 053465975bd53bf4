package sqlite

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"hippocampus/db/sqlstore"
	"hippocampus/internal/memory"
)

// The tables at the version of the schema have been made by several migrations, which the database lists.
func TestMigrate_LeavesTheSchemasVersionAsItIs(t *testing.T) {
	t.Parallel()
	s := atVersion(t, sqlstore.Schema)
	ctx := t.Context()
	for _, statement := range []string{
		`CREATE TABLE turns (id TEXT)`, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (1, 1), (51, 1)`,
	} {
		if _, err := s.writer.ExecContext(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	var tables string
	if err := s.reader.QueryRowContext(ctx, `SELECT group_concat(name) FROM sqlite_schema WHERE type = 'table' AND
		name NOT LIKE 'river%' AND name NOT LIKE 'sqlite%'`).Scan(&tables); err != nil {
		t.Fatal(err)
	}
	if tables != "goose_db_version,turns" {
		t.Errorf("the tables are %s", tables)
	}
}

func TestMigrate_RefusesBuildsBeforeTheFirstRelease(t *testing.T) {
	t.Parallel()
	for _, version := range []int64{1, sqlstore.Schema - 1} {
		s := atVersion(t, version)
		for range 2 {
			err := s.Migrate(t.Context())
			if !memory.IsKind(err, memory.KindConflict) || !strings.Contains(err.Error(), "before the first release") {
				t.Errorf("version %d: got %v, want a refusal that names the reason", version, err)
			}
		}
	}
}

// atVersion returns a store on a database without tables, which notes that it has a version.
func atVersion(t *testing.T, version int64) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "test.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	note := func(ctx context.Context) error {
		migrations, err := s.migrations()
		if err != nil {
			return err
		}
		if _, err := migrations.Tables.GetDBVersion(ctx); err != nil { // makes the table of versions
			return err
		}
		_, err = s.writer.ExecContext(ctx, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (?, 1)`, version)
		return err
	}
	if err := note(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}
