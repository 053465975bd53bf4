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
