package stmtcache

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// counts counts the statements that the driver has prepared, and those that are open.
type counts struct{ prepared, open atomic.Int64 }

type countedConnector struct {
	driver.Connector
	*counts
}

func (c countedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return countedConn{opened.(connection), c.counts}, nil
}

type countedConn struct {
	connection
	*counts
}

func (c countedConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.connection.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	c.prepared.Add(1)
	c.open.Add(1)
	return countedStatement{s.(executor), c.counts}, nil
}

type countedStatement struct {
	executor
	*counts
}

func (s countedStatement) Close() error {
	s.open.Add(-1)
	return s.executor.Close()
}

// open creates a file with a table of ten numbers and opens it with a number of connections.
func open(t testing.TB, connections int) (db *sql.DB, path string, n *counts) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "test.db")
	of, err := sqlite.NewConnector("file:" + path + "?_pragma=busy_timeout(5000)&_journal_mode=WAL")
	if err != nil {
		t.Fatal(err)
	}
	n = &counts{}
	db = sql.OpenDB(Connector(countedConnector{of, n}))
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	t.Cleanup(func() { db.Close() })
	mustExec(t, db, `CREATE TABLE numbers (n INTEGER PRIMARY KEY, name TEXT)`)
	for i := range 10 {
		mustExec(t, db, `INSERT INTO numbers VALUES (?, ?)`, i, fmt.Sprint(i))
	}
	return db, path, n
}

func mustExec(t testing.TB, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

const below = `SELECT count(*) FROM numbers WHERE n < ?`

func wantBelow(t *testing.T, q querier, n int) {
	t.Helper()
	var got int
	if err := q.QueryRowContext(t.Context(), below, n).Scan(&got); err != nil || got != n {
		t.Errorf("%d numbers are below %d: %v", got, n, err)
	}
}

func TestConnector_PreparesAStatementOnce(t *testing.T) {
	t.Parallel()
	db, _, n := open(t, 1)
	if got := n.prepared.Load(); got != 1 {
		t.Errorf("ten inserts were prepared %d times", got)
	}
	for i := range 5 {
		wantBelow(t, db, i)
	}
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	wantBelow(t, tx, 6)
	s, err := tx.PrepareContext(t.Context(), below)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		var got int
		if err := s.QueryRowContext(t.Context(), i).Scan(&got); err != nil || got != i {
			t.Errorf("%d numbers are below %d: %v", got, i, err)
		}
	}
	if err := errors.Join(s.Close(), tx.Commit()); err != nil {
		t.Fatal(err)
	}
	wantBelow(t, db, 7)
	if got := n.prepared.Load(); got != 2 {
		t.Errorf("two texts were prepared %d times", got)
	}
	if err := db.Close(); err != nil || n.open.Load() != 0 {
		t.Errorf("%d statements are open after the end: %v", n.open.Load(), err)
	}
}

func TestConnector_DoesNotReuseAStatementInUse(t *testing.T) {
	t.Parallel()
	db, _, n := open(t, 1)
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const all = `SELECT n FROM numbers ORDER BY n`
	for range 2 { // the second time, both are idle
		outer, err := conn.QueryContext(t.Context(), all)
		if err != nil {
			t.Fatal(err)
		}
		pairs := 0
		for outer.Next() {
			inner, err := conn.QueryContext(t.Context(), all)
			if err != nil {
				t.Fatal(err)
			}
			for inner.Next() {
				pairs++
			}
			if err := errors.Join(inner.Err(), inner.Close()); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(outer.Err(), outer.Close()); err != nil || pairs != 100 {
			t.Errorf("%d pairs of ten: %v", pairs, err)
		}
	}
	if got := n.prepared.Load(); got != 1+2 {
		t.Errorf("%d statements were prepared, want the insert and two of the query", got)
	}
}

func TestConnector_ClosesTheLongestUnusedStatement(t *testing.T) {
	t.Parallel()
	db, _, n := open(t, 1)
	for i := range 2 * Kept {
		wantBelow(t, db, 3)
		var got int
		if err := db.QueryRowContext(t.Context(), fmt.Sprintf(`SELECT %d`, i)).Scan(&got); err != nil || got != i {
			t.Fatalf("got %d, want %d: %v", got, i, err)
		}
	}
	if got := n.open.Load(); got != Kept {
		t.Errorf("%d statements are open, want %d", got, Kept)
	}
	if got := n.prepared.Load(); got != 2+2*Kept {
		t.Errorf("%d statements were prepared: what is used all the time is to be kept", got)
	}
}

func TestStatement_ReturnsTheErrorsOfSQLite(t *testing.T) {
	t.Parallel()
	db, _, n := open(t, 1)
	const insert = `INSERT INTO numbers VALUES (?, ?)`
	_, err := db.ExecContext(t.Context(), insert, 9, "again")
	var refused *sqlite.Error
	if !errors.As(err, &refused) || refused.Code() != sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY {
		t.Errorf("got %v, want the primary key's refusal", err)
	}
	if got := n.open.Load(); got != 0 {
		t.Errorf("%d statements are open, want 0 after a refusal", got)
	}
	mustExec(t, db, insert, 10, "ten")
	wantBelow(t, db, 11)
	// A statement that refuses one row accepts the next.
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	s, err := tx.PrepareContext(t.Context(), insert)
	if err != nil {
		t.Fatal(err)
	}
	for n, refuses := range []bool{true, true, false} {
		if _, err := s.ExecContext(t.Context(), 9+n, "x"); (err != nil) != refuses {
			t.Errorf("%d: %v", 9+n, err)
		}
	}
	if err := errors.Join(s.Close(), tx.Commit()); err != nil {
		t.Fatal(err)
	}
	wantBelow(t, db, 12)
}

func TestStatement_SurvivesASchemaChange(t *testing.T) {
	t.Parallel()
	db, path, n := open(t, 1)
	other, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, step := range []struct {
		change  string
		columns int
	}{
		{`SELECT 1`, 2},
		{`ALTER TABLE numbers ADD COLUMN more TEXT`, 3},
		{`DROP TABLE numbers; CREATE TABLE numbers (a, b, c, d); INSERT INTO numbers VALUES (1, 2, 3, 4)`, 4},
	} {
		mustExec(t, other, step.change)
		rows, err := db.QueryContext(t.Context(), `SELECT * FROM numbers LIMIT 1`)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := rows.Columns()
		if !rows.Next() || err != nil || len(columns) != step.columns {
			t.Errorf("after %s: %q, want %d columns: %v", step.change, columns, step.columns, errors.Join(err, rows.Err()))
		}
		rows.Close()
	}
	if got := n.prepared.Load(); got != 2 {
		t.Errorf("%d statements were prepared, want the insert and the query: SQLite itself prepares again", got)
	}
	mustExec(t, other, `DROP TABLE numbers`)
	if _, err := db.QueryContext(t.Context(), `SELECT * FROM numbers LIMIT 1`); err == nil {
		t.Error("a dropped table is read")
	}
}

// Some readers stop half-way or are cancelled while another goroutine writes.
func TestConnector_ServesConcurrentReadersAndAWriter(t *testing.T) {
	t.Parallel()
	db, _, n := open(t, 4)
	var group errgroup.Group
	for g := range 8 {
		group.Go(func() error {
			for i := range 100 {
				ctx, cancel := context.WithCancel(t.Context())
				rows, err := db.QueryContext(ctx, `SELECT n, name FROM numbers WHERE n >= ? ORDER BY n`, i%10)
				if err != nil {
					cancel()
					return err
				}
				for want := i % 10; want < 10 && rows.Next(); want++ {
					var number int
					var name string
					if err := rows.Scan(&number, &name); err != nil && ctx.Err() == nil || err == nil &&
						(number != want || name != fmt.Sprint(want)) {
						cancel()
						return fmt.Errorf("read %d %q, want %d: %w", number, name, want, err)
					}
					if g == 0 {
						cancel()
					}
					if g == 1 {
						break
					}
				}
				rows.Close()
				cancel()
				if g == 2 {
					if _, err := db.ExecContext(t.Context(), `INSERT INTO numbers VALUES (?, ?)`, 1000+i, "more"); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil || n.open.Load() != 0 {
		t.Errorf("%d statements are open after the end: %v", n.open.Load(), err)
	}
}
