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

// The tables that are written again keep their rows and their references.
func TestMigrate_KeepsFactsAndConsolidations(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "test.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	migrations, err := s.migrations()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrations.Tables.UpTo(t.Context(), 23); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`INSERT INTO facts VALUES ('f', 'app', 'user', 'home', 'city', NULL, 1, 1, 2, 'client', 'ended', '', 1, NULL, 0, 3)`,
		`INSERT INTO conversations (app_id, user_id, id, began, title, turns, events, tokens, started_at, last_at, heard_at)
			VALUES ('app', 'user', 'c', 't', '', 1, 3, 1, 1, 1, 1)`,
		`INSERT INTO consolidation_jobs VALUES
			('j', 'app', 'user', 'c', 'events', 'end', 'pending', 1, 3, NULL, '', 0, 1, NULL, NULL, 4)`,
	} {
		if _, err := s.writer.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	var due, claimed, broken int
	if err := s.reader.QueryRowContext(t.Context(), `SELECT (SELECT due_at FROM facts WHERE id = 'f'),
		(SELECT claimed_until FROM consolidation_jobs WHERE id = 'j'),
		(SELECT count(*) FROM pragma_foreign_key_check)`).Scan(&due, &claimed, &broken); err != nil {
		t.Fatal(err)
	}
	if due != 3 || claimed != 4 || broken != 0 {
		t.Errorf("due %d, claimed until %d, %d broken references", due, claimed, broken)
	}
}
