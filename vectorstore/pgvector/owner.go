package pgvector

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// DeleteOwner removes the owner's records from every table, in one transaction.
func (s *Store) DeleteOwner(ctx context.Context, owner memory.Owner) (deleted int, err error) {
	return s.eachTable(ctx, "deleting a user's vectors", owner, func(ctx context.Context, tx pgx.Tx, table string) (int, error) {
		tag, err := tx.Exec(ctx, `DELETE FROM `+table+` WHERE app_id = $1 AND user_id = $2`, owner.AppID, owner.UserID)
		return int(tag.RowsAffected()), err
	})
}

// CountOwner counts the owner's records in every table.
func (s *Store) CountOwner(ctx context.Context, owner memory.Owner) (held int, err error) {
	return s.eachTable(ctx, "counting a user's vectors", owner, func(ctx context.Context, tx pgx.Tx, table string) (n int, err error) {
		err = tx.QueryRow(ctx, `SELECT count(*) FROM `+table+` WHERE app_id = $1 AND user_id = $2`, owner.AppID, owner.UserID).Scan(&n)
		return n, err
	})
}

// eachTable adds up what f answers of every table of records: those in use, of
// whatever space, those that are being filled, and those that were left over.
func (s *Store) eachTable(ctx context.Context, doing string, owner memory.Owner, f func(context.Context, pgx.Tx, string) (int, error)) (total int, err error) {
	if err := vectorstore.CheckOwner(owner); err != nil {
		return 0, err
	}
	err = s.call(ctx, doing, func(ctx context.Context) error {
		total = 0
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			tables, err := s.tables(ctx, tx, tablePrefix)
			for i := 0; err == nil && i < len(tables); i++ {
				var n int
				n, err = f(ctx, tx, tables[i])
				total += n
			}
			return err
		})
	})
	if err != nil {
		return 0, err
	}
	return total, nil
}

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// tables lists the tables whose names begin so, in their order.
func (s *Store) tables(ctx context.Context, q querier, prefix string) ([]string, error) {
	rows, _ := q.Query(ctx, `SELECT relname::text FROM pg_class
		WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND starts_with(relname, $1) ORDER BY relname`, prefix)
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
