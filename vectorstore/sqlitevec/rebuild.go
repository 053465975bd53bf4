package sqlitevec

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"hippocampus/db/sqlite/sqlitefile"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// Rebuild fills a new table and puts it in the place of the one in use, by
// renaming it, in one transaction.
func (s *Store) Rebuild(ctx context.Context, fill func(ctx context.Context, into vectorstore.Writer) error) error {
	const action = "rebuilding the vector file"
	if err := s.dropRebuilt(ctx); err != nil {
		return failed(ctx, action, err)
	}
	table := rebuiltPrefix + strings.ReplaceAll(memory.NewID(), "-", "")
	if err := s.exec(ctx, (*sql.Tx).Commit, `CREATE TABLE `+table+` `+columns); err != nil {
		return failed(ctx, action, err)
	}
	if err := fill(ctx, &writer{space: s.space, db: s.db, table: table}); err != nil {
		// If this fails also, the next rebuild drops the table.
		_ = s.exec(context.WithoutCancel(ctx), (*sql.Tx).Commit, `DROP TABLE IF EXISTS `+table)
		return err
	}
	return failed(ctx, action, s.exec(ctx, s.cache.commitAndPurge,
		`DROP TABLE records`, `ALTER TABLE `+table+` RENAME TO records`, index))
}

// rebuiltPrefix is the prefix of the name of a table that is being filled.
const rebuiltPrefix = "rebuilt_"

// dropRebuilt drops the tables of rebuilds that are unfinished or under way.
func (s *Store) dropRebuilt(ctx context.Context) error {
	tables, err := queryAll(ctx, s.reader, scanName,
		`SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB '`+rebuiltPrefix+`*'`)
	if err != nil {
		return err
	}
	for i, table := range tables {
		tables[i] = `DROP TABLE IF EXISTS ` + table
	}
	return s.exec(ctx, (*sql.Tx).Commit, tables...)
}

// DeleteOwner removes the owner's records from every table, in one transaction, and
// their traces from the files.
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
	const action = "deleting a user's vectors"
	n, err := s.sumTables(ctx, s.db, action, owner, s.cache.commitAndRemove(owner), deleteFrom)
	if err != nil {
		return n, err
	}
	// Also if nothing was deleted: an earlier process may have died between the two steps.
	if err := s.cleaner.Clean(ctx); err != nil && !errors.Is(err, sqlitefile.ErrTooLarge) {
		return n, failed(ctx, action, err)
	}
	return n, failed(ctx, action, sqlitefile.Truncate(ctx, s.db))
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
