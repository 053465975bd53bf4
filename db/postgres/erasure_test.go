package postgres

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"hippocampus/db/postgres/postgrestest"
	"hippocampus/db/sqlstore"
)

// A new table of users' rows must be erased with them. Embeddings are erased with their memories, and keys stay.
func TestErasure_CoversEveryTable(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{URL: postgrestest.URL(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows, err := s.pool.Query(t.Context(), `SELECT table_name::text FROM information_schema.columns
		WHERE table_schema = current_schema() AND column_name = 'user_id' ORDER BY table_name COLLATE "C"`)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Sorted(slices.Values(append([]string{"api_keys", "embeddings"}, sqlstore.OwnedTables...)))
	if !slices.Equal(tables, want) {
		t.Errorf("the tables with a user are\n%q, erasures empty\n%q", tables, want)
	}
}
