package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"

	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver/riversqlite"

	"hippocampus/db/sqlite/sqlitefile"
	"hippocampus/db/sqlstore"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// Migrate brings the schema, River's tables included, to this version. One
// process migrates at a time; the others wait for it.
func (s *Store) Migrate(ctx context.Context) (err error) {
	unlock, err := s.lockMigration(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	migrations, err := s.migrations()
	if err != nil {
		return err
	}
	if err := migrations.Up(ctx, fault); err != nil {
		return err
	}
	for _, index := range jobIndexes {
		if _, err := s.writer.ExecContext(ctx, index); err != nil {
			return fault(err, "index the jobs")
		}
	}
	return s.Ping(ctx)
}

// lockMigration holds an exclusive transaction on an empty database file next to
// the store's: on every system, the lock ends with its process.
func (s *Store) lockMigration(ctx context.Context) (unlock func() error, err error) {
	path := s.path + ".migration-lock"
	if err := sqlitefile.Private(path); err != nil {
		return nil, cannotOpen(path, err)
	}
	file, err := sql.Open("sqlite", address(path))
	if err != nil {
		return nil, fault(err, "lock the schema")
	}
	conn, err := file.Conn(ctx)
	if err == nil {
		_, err = conn.ExecContext(ctx, `PRAGMA busy_timeout = 60000; BEGIN EXCLUSIVE`)
	}
	if err != nil {
		return nil, errors.Join(fault(err, "lock the schema"), file.Close())
	}
	return func() error { return errors.Join(conn.Close(), file.Close()) }, nil
}

func (s *Store) Ping(ctx context.Context) error {
	return cmp.Or(s.CheckVersions(ctx, s.schema), s.disk.Err())
}

func (s *Store) migrations() (sqlstore.Migrations[*sql.Tx], error) {
	return sqlstore.NewMigrations(goose.DialectSQLite3, s.writer, migrationFiles, riversqlite.New(s.writer), s.log)
}

// jobIndexes find the jobs about a turn or an owner. They are created after River's
// migrations, which may drop them.
var jobIndexes = []string{
	`CREATE INDEX IF NOT EXISTS river_job_of_turn ON river_job (` + sqlstore.JobTurn + `) WHERE ` + sqlstore.JobTurn +
		` IS NOT NULL`,
	`CREATE INDEX IF NOT EXISTS river_job_of_user ON river_job (` + sqlstore.JobUser + `, ` + sqlstore.JobApp +
		`) WHERE ` + sqlstore.JobUser + ` IS NOT NULL`,
}
