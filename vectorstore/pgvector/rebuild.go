package pgvector

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// Rebuild fills a new table and puts it in the place of the one in use, by
// renaming it, in one transaction. The new table has its index from the
// beginning, since writes made while an index is created would be lost.
func (s *Store) Rebuild(ctx context.Context, fill func(ctx context.Context, into vectorstore.Writer) error) error {
	const action = "rebuilding the vectors"
	if err := s.dropTables(ctx, s.table+"_"); err != nil {
		return failed(ctx, action, err)
	}
	release, err := s.blockTransactions(ctx)
	if err != nil {
		return failed(ctx, action, err)
	}
	defer release()
	id := memory.NewID()
	table := s.table + "_" + id[len(id)-12:]
	if err := s.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error { return s.create(ctx, tx, table) }); err != nil {
		return failed(ctx, action, err)
	}
	into := &writer{pool: s.pool, space: s.space, table: table, timeout: s.timeout}
	if err := fill(ctx, into); err != nil {
		// If this fails also, the next rebuild drops the table.
		_ = s.dropTables(context.WithoutCancel(ctx), table)
		return err
	}
	err = s.exec(ctx, `DROP TABLE IF EXISTS `+s.table, `ALTER TABLE `+table+` RENAME TO `+s.table)
	if err != nil {
		return failed(ctx, action, err)
	}
	s.plain.Store(s.schema == "")
	return nil
}

// Drop drops the tables of the space and closes the store.
func (s *Store) Drop(ctx context.Context) error {
	if err := s.dropTables(ctx, s.table); err != nil {
		return failed(ctx, "dropping the table of vectors", err)
	}
	return s.Close()
}

// dropTables drops the tables whose names begin with prefix. If prefix is the name
// of the table in use and "_", it drops the tables of unfinished rebuilds.
func (s *Store) dropTables(ctx context.Context, prefix string) error {
	tables, err := s.tables(ctx, s.pool, prefix)
	for i := 0; err == nil && i < len(tables); i++ {
		err = s.exec(ctx, `DROP TABLE IF EXISTS `+tables[i])
	}
	return err
}

// exec executes statements in one transaction.
func (s *Store) exec(ctx context.Context, statements ...string) error {
	return s.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error { return execAll(ctx, tx, statements) })
}

func execAll(ctx context.Context, tx pgx.Tx, statements []string) error {
	for _, statement := range statements {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// inTx runs f in one transaction with a short lock timeout, since other sessions
// queue up behind one that waits for an exclusive lock.
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

// DeleteOwner removes the owner's records from every table, in one transaction.
func (s *Store) DeleteOwner(ctx context.Context, owner memory.Owner) (deleted int, err error) {
	return s.sumTables(ctx, "deleting a user's vectors", owner,
		`WITH deleted AS (DELETE FROM %s WHERE app_id = $1 AND user_id = $2 RETURNING 1) SELECT count(*) FROM deleted`)
}

// CountOwner counts the owner's records in every table.
func (s *Store) CountOwner(ctx context.Context, owner memory.Owner) (count int, err error) {
	return s.sumTables(ctx, "counting a user's vectors", owner,
		`SELECT count(*) FROM %s WHERE app_id = $1 AND user_id = $2`)
}

// sumTables adds up the results of a query for the tables of every space: those
// in use, those that are being filled, and those that were left behind.
func (s *Store) sumTables(ctx context.Context, action string, owner memory.Owner, query string) (sum int, err error) {
	if err := vectorstore.CheckOwner(owner); err != nil {
		return 0, err
	}
	err = s.call(ctx, action, func(ctx context.Context) error {
		sum = 0
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			tables, err := s.tables(ctx, tx, tablePrefix)
			for i := 0; err == nil && i < len(tables); i++ {
				var n int
				err = tx.QueryRow(ctx, fmt.Sprintf(query, tables[i]), owner.AppID, owner.UserID).Scan(&n)
				sum += n
			}
			return err
		})
	})
	if err != nil {
		return 0, err
	}
	return sum, nil
}

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// tables lists the tables whose names begin with prefix, in the order of their names.
func (s *Store) tables(ctx context.Context, q querier, prefix string) ([]string, error) {
	rows, _ := q.Query(ctx, `SELECT relname::text FROM pg_class
		WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND starts_with(relname, $1)
		ORDER BY relname`, prefix)
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
