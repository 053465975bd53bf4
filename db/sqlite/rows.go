package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"hippocampus/db/sqlstore"
)

// instant is a time column, null for the zero time.
type instant = sqlstore.Instant

// moment is a time column that is never null, also for the zero time.
func moment(t time.Time) int64 { return t.UnixMicro() }

// jsonText is a JSON column. It is text, which people and SQLite's functions can read.
func jsonText(raw json.RawMessage) any {
	if raw == nil {
		return nil
	}
	return string(raw)
}

// list is many values as one parameter, for IN (SELECT value FROM json_each(?)).
func list[T ~string](values []T) string {
	if len(values) == 0 {
		return "[]"
	}
	b, _ := json.Marshal(values) // strings only: cannot fail
	return string(b)
}

// querier is what the pools and a transaction have in common.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// collect runs a query and reads each row into a T by the destinations that
// fields returns.
func collect[T any](ctx context.Context, q querier, fields func(*T) []any, query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := []T{}
	for rows.Next() {
		var item T
		if err := rows.Scan(fields(&item)...); err != nil {
			return nil, err
		}
		found = append(found, item)
	}
	return found, rows.Err()
}

// one is collect for a query with at most one row. If there is no row, it returns sql.ErrNoRows.
func one[T any](ctx context.Context, q querier, fields func(*T) []any, query string, args ...any) (item T, err error) {
	found, err := collect(ctx, q, fields, query, args...)
	if err == nil && len(found) == 0 {
		err = sql.ErrNoRows
	}
	if err != nil {
		return item, err
	}
	return found[0], nil
}
