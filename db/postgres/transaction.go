package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// session runs the statements of a transaction.
type session interface {
	querier
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, rows pgx.CopyFromSource) (int64, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// inUser runs f in one transaction that has the owner's lock. One round trip
// begins the transaction and takes the lock, and one ends it.
func (s *Store) inUser(
	ctx context.Context, owner memory.Owner, vectors Vectors, f func(ctx context.Context, tx db.UserTx) error,
) (err error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return fault(err, "reach the user's memories")
	}
	defer conn.Release() // which closes it unless the transaction has ended
	user := &userTx{UserTx: s.UserTx(statements{conn}, owner), tx: conn, vectors: vectorWrites{to: vectors}}
	if err := begin(ctx, conn, owner, &user.vectors); err != nil {
		return fault(err, "wait for the user's other writes")
	}
	ended := false
	defer func() {
		if !ended {
			_, _ = conn.Exec(ctx, `ROLLBACK`)
		}
	}()
	if err := f(ctx, user); err != nil {
		return err
	}
	batch := &pgx.Batch{}
	if user.Changed {
		batch.Queue(revise, rowcodec.OwnerHash(owner), rowcodec.NewRevision())
	}
	queueAnnouncements(batch, owner, user.Announcements())
	user.vectors.end(batch)
	batch.Queue(`COMMIT`).Exec(func(tag pgconn.CommandTag) error {
		if ended = true; tag.String() != "COMMIT" {
			return pgx.ErrTxCommitRollback
		}
		return nil
	})
	return fault(user.vectors.ended(conn.SendBatch(ctx, batch).Close()), "commit the user's changes")
}

// begin begins a transaction with the owner's lock, or returns db.ErrErasing.
func begin(ctx context.Context, conn *pgxpool.Conn, owner memory.Owner, vectors *vectorWrites) error {
	erasing := false
	batch := &pgx.Batch{}
	batch.Queue(`BEGIN`)
	batch.Queue(lockAlone, rowcodec.OwnerLock(owner))
	// A statement of its own, so that it sees what the lock has waited for.
	batch.Queue(`SELECT `+isErasing+`$1)`, rowcodec.OwnerHash(owner)).
		QueryRow(func(row pgx.Row) error { return row.Scan(&erasing) })
	vectors.begin(batch)
	if err := conn.SendBatch(ctx, batch).Close(); err != nil {
		_, _ = conn.Exec(ctx, `ROLLBACK`)
		return err
	}
	if erasing {
		_, _ = conn.Exec(ctx, `ROLLBACK`)
		return db.ErrErasing
	}
	return nil
}
