package stmtcache

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"testing"

	"modernc.org/sqlite"
)

func TestConnector_PassesOnTheDriversMethods(t *testing.T) {
	t.Parallel()
	db, _, _ := open(t, 1)
	rows, err := db.QueryContext(t.Context(), `SELECT n, name FROM numbers`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil || types[0].DatabaseTypeName() != "INTEGER" || types[1].DatabaseTypeName() != "TEXT" {
		t.Errorf("got the types %v: %v", types, err)
	}
	rows.Close()
	for _, on := range []string{"1", "0", "1"} { // each is run
		mustExec(t, db, `PRAGMA query_only = `+on)
		if _, err := db.ExecContext(t.Context(), `DELETE FROM numbers`); (err != nil) != (on == "1") {
			t.Errorf("query_only is %s, deleting gives %v", on, err)
		}
	}
	if err := db.PingContext(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestRepeats_ExcludesSettingsAndSchemaChanges(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]bool{
		"SELECT 1": true, "\n\t INSERT INTO x": true, "-- name: Query :one\nUPDATE x": true, "-- a\n  -- b\nWITH x": true,
		"DELETE FROM x": true,
		"":              false, "-- nothing": false, "PRAGMA foreign_keys": false, "BEGIN": false, "CREATE TABLE x": false,
		"EXPLAIN QUERY PLAN SELECT 1": false, "VACUUM": false,
	} {
		if got := repeats(query); got != want {
			t.Errorf("%q is kept: %t", query, got)
		}
	}
}

// bareConn offers only the methods of every driver.Conn.
type bareConn struct {
	driver.Conn
	closed *bool
}

func (c bareConn) Close() error {
	*c.closed = true
	return c.Conn.Close()
}

type bareConnector struct {
	driver.Connector
	closed *bool
}

func (c bareConnector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.Connector.Connect(ctx)
	return bareConn{opened, c.closed}, err
}

func TestConnector_RefusesAnotherDriver(t *testing.T) {
	t.Parallel()
	of, err := sqlite.NewConnector(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	closed := false
	if _, err := Connector(bareConnector{of, &closed}).Connect(t.Context()); err == nil || !closed {
		t.Errorf("a connection that lacks methods: %v, closed %t", err, closed)
	}
}

// BenchmarkStatement compares a small read with and without kept statements.
func BenchmarkStatement(b *testing.B) {
	for _, kept := range []bool{false, true} {
		db, path, _ := open(b, 1)
		if !kept {
			var err error
			if db, err = sql.Open("sqlite", path); err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { db.Close() })
		}
		b.Run(fmt.Sprintf("read,kept=%t", kept), func(b *testing.B) {
			for b.Loop() {
				var got int
				if err := db.QueryRowContext(b.Context(), below, 5).Scan(&got); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
