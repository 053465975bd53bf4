package stmtcache

import (
	"errors"
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

func TestForAnyLimit_PlansAStatementOnce(t *testing.T) {
	table := &planned{}
	if err := vtab.RegisterModule(nil, "planned", table); err != nil {
		t.Fatal(err)
	}
	db, _, _ := open(t, 1)
	mustExec(t, db, `CREATE VIRTUAL TABLE planned USING planned`)
	for _, query := range []string{
		`SELECT n FROM planned ORDER BY n LIMIT ?`,
		"SELECT n FROM planned ORDER BY n LIMIT\n\t?1",
		`SELECT count(*) FROM (SELECT n FROM planned LIMIT ?)`,
		`WITH some AS (SELECT n FROM planned LIMIT ?1 OFFSET 3) SELECT n FROM some`,
	} {
		before, first := table.times.Load(), int64(0)
		for limit := range 5 {
			rows, err := db.QueryContext(t.Context(), query, limit)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(rows.Close(), rows.Err()); err != nil {
				t.Fatal(err)
			}
			if limit == 0 {
				first = table.times.Load() - before
			}
		}
		if again := table.times.Load() - before - first; first == 0 || again != 0 {
			t.Errorf("%s: planned %d times for one limit, and %d times for four others", query, first, again)
		}
	}
}

func TestForAnyLimit_KeepsTheLimit(t *testing.T) {
	t.Parallel()
	db, _, _ := open(t, 1)
	for _, limit := range []int{3, 10, 0, 7} {
		var got int
		err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM (SELECT n FROM numbers LIMIT ?)`, limit).Scan(&got)
		if err != nil || got != limit {
			t.Errorf("%d of %d: %v", got, limit, err)
		}
	}
}
