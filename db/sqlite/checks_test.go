package sqlite

import (
	"path/filepath"
	"strings"
	"testing"
)

// In some versions of SQLite json_valid(NULL) is 0, so that other programs that check the file would
// find faults in it.
func TestChecks_AcceptNullInEveryVersion(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "test.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	var schema string
	if err := s.reader.QueryRowContext(t.Context(), `SELECT group_concat(sql, char(10)) FROM sqlite_master
		WHERE type = 'table' AND name NOT LIKE 'river%'`).Scan(&schema); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for line := range strings.Lines(schema) {
		if !strings.Contains(line, "json_valid(") {
			continue
		}
		checked++
		if !strings.Contains(line, "NOT NULL") && !strings.Contains(line, "IS NULL OR") {
			t.Errorf("a column that may be null has a CHECK that some versions fail: %s", line)
		}
	}
	if checked < 4 {
		t.Errorf("only %d columns have a CHECK with json_valid", checked)
	}
}
