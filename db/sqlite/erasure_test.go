package sqlite

import (
	"path/filepath"
	"slices"
	"testing"

	"hippocampus/db/sqlstore"
)

// A new table of users' rows must be erased with them; see also TestErasure_CoversEveryTable of package postgres.
func TestErasure_CoversEveryTable(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "test.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows, err := s.reader.QueryContext(t.Context(), `SELECT t.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
		WHERE t.type = 'table' AND c.name = 'user_id' ORDER BY t.name`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var tables []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	want := slices.Sorted(slices.Values(append([]string{"api_keys"}, sqlstore.OwnedTables...)))
	if !slices.Equal(tables, want) {
		t.Errorf("the tables with a user are\n%q, erasures empty\n%q", tables, want)
	}
}
