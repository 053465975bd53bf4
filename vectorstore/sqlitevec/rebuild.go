package sqlitevec

import (
	"context"
	"database/sql"
	"strings"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// Rebuild fills a table of its own and renames it in place of the first, in
// one transaction.
func (s *Store) Rebuild(ctx context.Context, fill func(ctx context.Context, into vectorstore.Writer) error) error {
	const doing = "rebuilding the vector file"
	if err := s.dropRebuilt(ctx); err != nil {
		return failed(ctx, doing, err)
	}
	table := rebuilt + strings.ReplaceAll(memory.NewID(), "-", "")
	if err := s.inTx(ctx, (*sql.Tx).Commit, `CREATE TABLE `+table+` `+columns); err != nil {
		return failed(ctx, doing, err)
	}
	if err := fill(ctx, &writer{space: s.space, db: s.db, table: table}); err != nil {
		// Where this fails too, the next rebuild drops it.
		_ = s.inTx(context.WithoutCancel(ctx), (*sql.Tx).Commit, `DROP TABLE IF EXISTS `+table)
		return err
	}
	forget := func(tx *sql.Tx) error { return s.held.forget(tx) }
	if err := s.inTx(ctx, forget, `DROP TABLE records`, `ALTER TABLE `+table+` RENAME TO records`, index); err != nil {
		return failed(ctx, doing, err)
	}
	return nil
}

// rebuilt begins the name of a table that is being filled.
const rebuilt = "rebuilt_"

// dropRebuilt drops the tables of rebuilds that ended half-way, or are under way.
func (s *Store) dropRebuilt(ctx context.Context) error {
	rows, err := s.reader.QueryContext(ctx, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB '`+rebuilt+`*'`)
	if err != nil {
		return err
	}
	defer rows.Close()
	var drops []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		drops = append(drops, `DROP TABLE IF EXISTS `+name)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return s.inTx(ctx, (*sql.Tx).Commit, drops...)
}

// inTx executes statements in one transaction.
func (s *Store) inTx(ctx context.Context, commit func(tx *sql.Tx) error, statements ...string) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := execAll(ctx, tx, statements); err != nil {
		return err
	}
	return commit(tx)
}

func execAll(ctx context.Context, tx *sql.Tx, statements []string) error {
	for _, statement := range statements {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
