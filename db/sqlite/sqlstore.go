package sqlite

import (
	"context"
	"database/sql"

	"github.com/riverqueue/river"

	"hippocampus/db"
	"hippocampus/db/sqlstore"
	"hippocampus/internal/memory"
)

// database is the sqlstore.Database of this adapter.
type database struct{ store *Store }

// Query uses the reading connections.
func (d database) Query(ctx context.Context, query string, args []any, row func(sqlstore.Scan) error) error {
	return eachRow(ctx, d.store.reader, query, args, row)
}

// Exec uses the writing connection.
func (d database) Exec(ctx context.Context, query string, args []any) (int, error) {
	return rowsAffected(d.store.exec(ctx, query, args...))
}

// ExecAll is one transaction.
func (d database) ExecAll(ctx context.Context, query string, rows [][]any) (n int, err error) {
	err = d.Transact(ctx, func(tx sqlstore.Tx) error {
		n, err = tx.ExecAll(ctx, query, rows)
		return err
	})
	return n, err
}

func (d database) Transact(ctx context.Context, f func(tx sqlstore.Tx) error) error {
	return d.store.enqueueing(ctx, func(tx transaction) error { return f(tx) })
}

func (d database) Snapshot(ctx context.Context, f func(q sqlstore.Querier) error) error {
	tx, err := d.store.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // it has only read
	return f(transaction{tx: tx})
}

func (d database) Long() sqlstore.Querier { return d }

func (d database) InUser(
	ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error,
) error {
	return d.store.InUser(ctx, owner, f)
}

func (d database) Fault(err error, doing string) error { return fault(err, doing) }

// transaction is a sqlstore.Tx.
type transaction struct {
	tx     *sql.Tx
	jobs   *river.Client[*sql.Tx]
	queues *[]string // of the jobs that it enqueues
}

func (t transaction) Query(ctx context.Context, query string, args []any, row func(sqlstore.Scan) error) error {
	return eachRow(ctx, t.tx, query, args, row)
}

func (t transaction) Exec(ctx context.Context, query string, args []any) (int, error) {
	return rowsAffected(t.tx.ExecContext(ctx, query, args...))
}

func (t transaction) ExecAll(ctx context.Context, query string, rows [][]any) (int, error) {
	statement, err := t.tx.PrepareContext(ctx, query)
	if err != nil {
		return 0, err
	}
	defer statement.Close()
	total := 0
	for _, row := range rows {
		n, err := rowsAffected(statement.ExecContext(ctx, row...))
		if err != nil {
			return total, err
		}
		total += n
	}
	return total, nil
}

func (t transaction) Enqueue(ctx context.Context, jobs []river.InsertManyParams) error {
	for _, job := range jobs {
		*t.queues = append(*t.queues, queueOf(job.Args))
	}
	_, err := t.jobs.InsertManyTx(ctx, t.tx, jobs)
	return err
}

func eachRow(ctx context.Context, on querier, query string, args []any, row func(sqlstore.Scan) error) error {
	rows, err := on.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

func rowsAffected(result sql.Result, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}
