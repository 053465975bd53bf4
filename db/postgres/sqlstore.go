package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"

	"hippocampus/db"
	"hippocampus/db/sqlstore"
	"hippocampus/internal/memory"
)

// database is the sqlstore.Database of this adapter.
type database struct {
	statements
	store *Store
}

func (d database) Exec(ctx context.Context, sql string, args []any) (n int, err error) {
	err = again(ctx, func() error {
		n, err = d.statements.Exec(ctx, sql, args)
		return err
	})
	return n, err
}

func (d database) Transact(ctx context.Context, f func(tx sqlstore.Tx) error) error {
	return again(ctx, func() error {
		return pgx.BeginFunc(ctx, d.store.pool, func(tx pgx.Tx) error {
			return f(transaction{statements{tx}, tx, d.store.jobs})
		})
	})
}

func (d database) Snapshot(ctx context.Context, f func(q sqlstore.Querier) error) error {
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return pgx.BeginTxFunc(ctx, d.store.pool, options, func(tx pgx.Tx) error { return f(statements{tx}) })
}

func (d database) InUser(
	ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error,
) error {
	return d.store.InUser(ctx, owner, f)
}

func (d database) Fault(err error, doing string) error { return fault(err, doing) }

// transaction is a sqlstore.Tx.
type transaction struct {
	statements
	tx   pgx.Tx
	jobs *river.Client[pgx.Tx]
}

func (t transaction) Enqueue(ctx context.Context, jobs []river.InsertManyParams) error {
	_, err := t.jobs.InsertManyTx(ctx, t.tx, jobs)
	return err
}

// begun is a connection in a transaction, for River, which only runs statements in it.
type begun struct{ *connection }

type connection = pgxpool.Conn

var errBegun = errors.New("the transaction is ended where it was begun")

func (begun) Begin(context.Context) (pgx.Tx, error) { return nil, errBegun }
func (begun) Commit(context.Context) error          { return errBegun }
func (begun) Rollback(context.Context) error        { return errBegun }
func (begun) LargeObjects() pgx.LargeObjects        { return pgx.LargeObjects{} }

func (b begun) Prepare(ctx context.Context, name, sql string) (*pgconn.StatementDescription, error) {
	return b.Conn().Prepare(ctx, name, sql)
}

// statements is a sqlstore.Querier on the pool, a connection or a transaction.
type statements struct {
	on interface {
		querier
		Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
		SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
	}
}

func (s statements) Query(ctx context.Context, sql string, args []any, row func(sqlstore.Scan) error) error {
	rows, err := s.on.Query(ctx, sql, args...)
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

func (s statements) Exec(ctx context.Context, sql string, args []any) (int, error) {
	tag, err := s.on.Exec(ctx, sql, args...)
	return int(tag.RowsAffected()), err
}

// ExecAll is one round trip.
func (s statements) ExecAll(ctx context.Context, sql string, rows [][]any) (n int, err error) {
	batch := &pgx.Batch{}
	for _, row := range rows {
		batch.Queue(sql, row...).Exec(func(tag pgconn.CommandTag) error {
			n += int(tag.RowsAffected())
			return nil
		})
	}
	err = s.on.SendBatch(ctx, batch).Close()
	return n, err
}
