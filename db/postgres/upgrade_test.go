package postgres

import (
	"context"
	"strings"
	"testing"

	"hippocampus/db/postgres/postgrestest"
	"hippocampus/db/sqlstore"
	"hippocampus/internal/memory"
)

// The tables at the version of the schema have been made by several migrations, which the database lists.
func TestMigrate_LeavesTheSchemasVersionAsItIs(t *testing.T) {
	t.Parallel()
	s := atVersion(t, sqlstore.Schema)
	ctx := t.Context()
	_, err := s.pool.Exec(ctx, `CREATE TABLE turns (id text);
		INSERT INTO goose_db_version (version_id, is_applied) VALUES (1, true), (51, true)`)
	must(t, err)
	must(t, s.Migrate(ctx))
	var tables string
	must(t, s.pool.QueryRow(ctx, `SELECT string_agg(relname, ',' ORDER BY relname) FROM pg_class
		WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname NOT LIKE 'river%'`).Scan(&tables))
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

// atVersion returns a store on a schema without tables, which notes that it has a version.
func atVersion(t *testing.T, version int64) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{URL: postgrestest.URL(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	note := func(ctx context.Context) error {
		migrations, done, err := s.migrations(s.pool)
		if err != nil {
			return err
		}
		defer done()
		if _, err := migrations.Tables.GetDBVersion(ctx); err != nil { // makes the table of versions
			return err
		}
		_, err = s.pool.Exec(ctx, `INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, true)`, version)
		return err
	}
	must(t, note(t.Context()))
	return s
}
