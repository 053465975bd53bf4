package pgvector

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

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
