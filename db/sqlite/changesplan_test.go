package sqlite

import (
	"database/sql"
	"path/filepath"
	"sync/atomic"
	"testing"

	"modernc.org/sqlite/vtab"
)

// planned is a table without rows that counts how often SQLite has planned to read it.
type planned struct{ times atomic.Int64 }

func (p *planned) Create(ctx vtab.Context, args []string) (vtab.Table, error) {
	return p, ctx.Declare(`CREATE TABLE planned (n)`)
}
func (p *planned) Connect(ctx vtab.Context, args []string) (vtab.Table, error) {
	return p.Create(ctx, args)
}
func (p *planned) BestIndex(*vtab.IndexInfo) error        { p.times.Add(1); return nil }
func (p *planned) Open() (vtab.Cursor, error)             { return p, nil }
func (p *planned) Disconnect() error                      { return nil }
func (p *planned) Destroy() error                         { return nil }
func (p *planned) Filter(int, string, []vtab.Value) error { return nil }
func (p *planned) Next() error                            { return nil }
func (p *planned) Eof() bool                              { return true }
func (p *planned) Column(int) (vtab.Value, error)         { return nil, nil }
func (p *planned) Rowid() (int64, error)                  { return 0, nil }
func (p *planned) Close() error                           { return nil }

// Each recall reads the changes of its user since another revision.
func TestChanges_StaysPreparedForEachRevision(t *testing.T) {
	table := &planned{}
	if err := vtab.RegisterModule(nil, "planned", table); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "changes.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), `CREATE VIRTUAL TABLE planned USING planned`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	s.reader.SetMaxOpenConns(1)
	var first int64
	for revision := range 5 {
		var n int
		if err := s.reader.QueryRowContext(t.Context(),
			`SELECT count(*) FROM (`+changedDocuments+`), planned`, "app", "user", revision).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if revision == 0 {
			first = table.times.Load()
		}
	}
	if again := table.times.Load() - first; first == 0 || again != 0 {
		t.Errorf("planned %d times for one revision, and %d times for four others", first, again)
	}
}
