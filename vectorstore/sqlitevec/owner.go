package sqlitevec

import (
	"context"
	"database/sql"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// DeleteOwner removes the owner's records from every table, in one transaction.
func (s *Store) DeleteOwner(ctx context.Context, owner memory.Owner) (int, error) {
	deleteFrom := func(tx *sql.Tx, table string) (int, error) {
		result, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE app_id = ? AND user_id = ?`,
			owner.AppID, owner.UserID)
		if err != nil {
			return 0, err
		}
		n, err := result.RowsAffected()
		return int(n), err
	}
	return s.sumTables(ctx, s.db, "deleting a user's vectors", owner, s.cache.commitAndRemove(owner), deleteFrom)
}

// CountOwner counts the owner's records in every table.
func (s *Store) CountOwner(ctx context.Context, owner memory.Owner) (int, error) {
	count := func(tx *sql.Tx, table string) (n int, err error) {
		err = tx.QueryRowContext(ctx, `SELECT count(*) FROM `+table+` WHERE app_id = ? AND user_id = ?`,
			owner.AppID, owner.UserID).Scan(&n)
		return n, err
	}
	return s.sumTables(ctx, s.reader, "counting a user's vectors", owner, (*sql.Tx).Commit, count)
}

// sumTables adds up the results of f for every table of records: the one in use,
// those that are being filled, and those that were left behind.
func (s *Store) sumTables(
	ctx context.Context, db *sql.DB, action string, owner memory.Owner,
	commit func(tx *sql.Tx) error, f func(tx *sql.Tx, table string) (int, error),
) (sum int, err error) {
	if err := vectorstore.CheckOwner(owner); err != nil {
		return 0, err
	}
	err = inTx(ctx, db, commit, func(tx *sql.Tx) error {
		tables, err := queryAll(ctx, tx, scanName, `SELECT t.name FROM sqlite_schema AS t
			WHERE t.type = 'table' AND EXISTS (SELECT 1 FROM pragma_table_info(t.name) AS c WHERE c.name = 'user_id')`)
		for i := 0; err == nil && i < len(tables); i++ {
			var n int
			n, err = f(tx, tables[i])
			sum += n
		}
		return err
	})
	if err != nil {
		return 0, failed(ctx, action, err)
	}
	return sum, nil
}
