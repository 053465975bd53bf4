package pgvector

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// Rebuild fills a table of its own and renames it in place of the one in use, in
// one transaction. The new table has its graph from the beginning: while one was
// made at the end, what is written meanwhile would miss the change.
func (s *Store) Rebuild(ctx context.Context, fill func(ctx context.Context, into vectorstore.Writer) error) error {
	const doing = "rebuilding the vectors"
	if err := s.dropTables(ctx, s.table+"_"); err != nil {
		return failed(ctx, doing, err)
	}
	release, err := s.holdTransactions(ctx)
	if err != nil {
		return failed(ctx, doing, err)
	}
	defer release()
	id := memory.NewID()
	fresh := s.table + "_" + id[len(id)-12:]
	if err := s.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error { return s.create(ctx, tx, fresh) }); err != nil {
		return failed(ctx, doing, err)
	}
	if err := fill(ctx, &writer{s.pool, s.space, fresh, s.timeout}); err != nil {
		// Where this fails too, the next rebuild drops it.
		_ = s.dropTables(context.WithoutCancel(ctx), fresh)
		return err
	}
	err = s.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `DROP TABLE IF EXISTS `+s.table); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `ALTER TABLE `+fresh+` RENAME TO `+s.table)
		return err
	})
	return failed(ctx, doing, err)
}

// Drop drops the tables of the space and closes the store.
func (s *Store) Drop(ctx context.Context) error {
	if err := s.dropTables(ctx, s.table); err != nil {
		return failed(ctx, "dropping the table of vectors", err)
	}
	return s.Close()
}

// dropTables drops the tables whose names begin so. With "_" after the name of
// the one in use, these are those of rebuilds that ended half-way, or are under way.
func (s *Store) dropTables(ctx context.Context, prefix string) error {
	tables, err := s.tables(ctx, s.pool, prefix)
	for i := 0; err == nil && i < len(tables); i++ {
		err = s.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `DROP TABLE IF EXISTS `+tables[i])
			return err
		})
	}
	return err
}

// inTx runs f, which waits for locks, in one transaction. Whoever comes after it
// waits, too, so that it gives up soon.
func (s *Store) inTx(ctx context.Context, f func(ctx context.Context, tx pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, setupTimeout)
	defer cancel()
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SET LOCAL lock_timeout = '5s'`); err != nil {
			return err
		}
		return f(ctx, tx)
	})
}
