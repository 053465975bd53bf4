package stmtcache

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync/atomic"
	"testing"

	"modernc.org/sqlite"
)

// cancelCounting holds the context.CancelFunc of the count that TestStatement_EndsWithItsContext runs.
var cancelCounting atomic.Value

func init() {
	sqlite.MustRegisterScalarFunction("cancel_counting", 0,
		func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
			cancelCounting.Load().(context.CancelFunc)()
			return int64(1), nil
		})
}

// A statement that runs ends when its context is canceled. The driver misses a context that ends between its
// check and SQLite's first step, and then waits for the statement, so that the statement itself cancels here.
func TestStatement_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	db, _, n := open(t, 1)
	const count = `WITH RECURSIVE up(i) AS (SELECT cancel_counting() UNION ALL SELECT i + 1 FROM up LIMIT ?)
		SELECT count(*) FROM up`
	for _, run := range map[string]func(ctx context.Context) error{
		"query": func(ctx context.Context) error {
			var got int
			return db.QueryRowContext(ctx, count, -1).Scan(&got)
		},
		"exec": func(ctx context.Context) error {
			_, err := db.ExecContext(ctx, count, -1)
			return err
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancelCounting.Store(cancel)
		if err := run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("counting for ever ended with %v", err)
		}
		var got int
		if err := db.QueryRowContext(t.Context(), count, 5).Scan(&got); err != nil || got != 5 {
			t.Errorf("counted %d of 5: %v", got, err)
		}
	}
	if err := db.Close(); err != nil || n.open.Load() != 0 {
		t.Errorf("%d statements are open after the end: %v", n.open.Load(), err)
	}
}
