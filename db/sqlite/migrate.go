package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver/riversqlite"

	"hippocampus/db/sqlstore"
)

//go:embed migrations
var migrationFiles embed.FS

// Migrate brings the schema, River's tables included, to this version. One
// process migrates at a time; the others wait for it.
func (s *Store) Migrate(ctx context.Context) (err error) {
	unlock, err := Lock(ctx, s.path+".migration-lock", time.Minute)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	migrations, err := s.migrations()
	if err != nil {
		return err
	}
	if err := s.withoutSync(ctx, func() error { return migrations.Up(ctx, fault) }); err != nil {
		return err
	}
	if _, err := s.writer.ExecContext(ctx, jobIndexes); err != nil {
		return fault(err, "index the jobs")
	}
	return s.Ping(ctx)
}

// withoutSync runs f, whose commits do not wait for the disk. A power cut can undo the last commits; the next start
// then makes them again. The next commit afterwards makes them durable.
func (s *Store) withoutSync(ctx context.Context, f func() error) (err error) {
	if _, err := s.writer.ExecContext(ctx, `PRAGMA synchronous = NORMAL`); err != nil {
		return fault(err, "prepare to migrate")
	}
	defer func() {
		_, again := s.writer.ExecContext(context.WithoutCancel(ctx), `PRAGMA synchronous = FULL`)
		err = cmp.Or(err, fault(again, "wait for the disk again"))
	}()
	return f()
}

func (s *Store) Ping(ctx context.Context) error {
	return cmp.Or(s.CheckVersions(ctx, s.schema), s.disk.Err())
}

func (s *Store) migrations() (sqlstore.Migrations[*sql.Tx], error) {
	return sqlstore.NewMigrations(goose.DialectSQLite3, s.writer, migrationFiles, riversqlite.New(s.writer), s.log)
}

// jobIndexes find the jobs about a turn or an owner. They are created after River's
// migrations, which may drop them.
const jobIndexes = `
	CREATE INDEX IF NOT EXISTS river_job_of_turn ON river_job (` + sqlstore.JobTurn + `)
		WHERE ` + sqlstore.JobTurn + ` IS NOT NULL;
	CREATE INDEX IF NOT EXISTS river_job_of_user ON river_job (` + sqlstore.JobUser + `, ` + sqlstore.JobApp + `)
		WHERE ` + sqlstore.JobUser + ` IS NOT NULL`
