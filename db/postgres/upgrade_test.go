package postgres

import (
	"strings"
	"testing"

	"hippocampus/db/postgres/postgrestest"
	"hippocampus/db/sqlstore"
	"hippocampus/internal/memory"
)

// Several migrations have made the tables, and the database lists each.
func TestMigrate_ContinuesFromTheVersionOfTheSchema(t *testing.T) {
	t.Parallel()
	s := ofVersions(t, 1, sqlstore.Schema-1, sqlstore.Schema)
	must(t, s.Migrate(t.Context()))
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
	s := upToSchema(t)
	_, err := s.pool.Exec(t.Context(), `DELETE FROM goose_db_version WHERE version_id > 0`)
	must(t, err)
	for _, version := range versions {
		_, err := s.pool.Exec(t.Context(),
			`INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, true)`, version)
		must(t, err)
	}
	return s
}

// upToSchema returns a store with the tables of the schema, and without those of jobs and of later migrations.
func upToSchema(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{URL: postgrestest.URL(t)})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	migrations, done, err := s.migrations(s.pool)
	must(t, err)
	defer done()
	_, err = migrations.Tables.UpTo(t.Context(), sqlstore.Schema)
	must(t, err)
	return s
}
