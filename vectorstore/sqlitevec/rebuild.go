package sqlitevec

import (
	"context"
	"database/sql"
	"strings"

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
