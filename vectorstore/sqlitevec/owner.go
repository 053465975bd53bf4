package sqlitevec

import (
	"context"
	"database/sql"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// DeleteOwner removes the owner's records from every table, in one transaction.
func (s *Store) DeleteOwner(ctx context.Context, owner memory.Owner) (deleted int, err error) {
	forget := func(tx *sql.Tx) error { return s.held.forget(tx, owner) }
	err = s.eachTable(ctx, s.db, "deleting a user's vectors", owner, forget, func(tx *sql.Tx, table string) error {
		result, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE app_id = ? AND user_id = ?`, owner.AppID, owner.UserID)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		deleted += int(n)
		return err
	})
	if err != nil {
		return 0, err
	}
	return deleted, nil
}

// CountOwner counts the owner's records in every table.
func (s *Store) CountOwner(ctx context.Context, owner memory.Owner) (held int, err error) {
	err = s.eachTable(ctx, s.reader, "counting a user's vectors", owner, (*sql.Tx).Commit, func(tx *sql.Tx, table string) error {
		var n int
		err := tx.QueryRowContext(ctx, `SELECT count(*) FROM `+table+` WHERE app_id = ? AND user_id = ?`, owner.AppID, owner.UserID).Scan(&n)
		held += n
		return err
	})
	return held, err
}

// eachTable calls f with every table of records: the one in use, those that
// are being filled, and those that were left over.
func (s *Store) eachTable(ctx context.Context, db *sql.DB, doing string, owner memory.Owner,
	commit func(tx *sql.Tx) error, f func(tx *sql.Tx, table string) error) error {
	if err := vectorstore.CheckOwner(owner); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return failed(ctx, doing, err)
	}
	defer tx.Rollback()
	tables, err := recordTables(ctx, tx)
	if err != nil {
		return failed(ctx, doing, err)
	}
	for _, table := range tables {
		if err := f(tx, table); err != nil {
			return failed(ctx, doing, err)
		}
	}
	if err := commit(tx); err != nil {
		return failed(ctx, doing, err)
	}
	return nil
}

// recordTables lists the tables whose rows have a user.
func recordTables(ctx context.Context, tx *sql.Tx) (names []string, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT t.name FROM sqlite_schema AS t
		WHERE t.type = 'table' AND EXISTS (SELECT 1 FROM pragma_table_info(t.name) AS c WHERE c.name = 'user_id')`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}
