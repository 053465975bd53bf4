package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"

	"hippocampus/internal/memory"
)

//go:embed migrations/*.sql
var migrations embed.FS

// versions are those of our tables and of River's.
type versions struct{ tables, jobs int64 }

// Migrate brings the schema, River's tables included, to this version. One
// process migrates at a time; the others wait for it.
func (s *Store) Migrate(ctx context.Context) (err error) {
	unlock, err := s.lockMigration(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()

	ours, err := s.tables()
	if err != nil {
		return err
	}
	done, err := ours.Up(ctx)
	if err != nil {
		return fault(err, "migrate its tables")
	}
	for _, m := range done {
		s.log.InfoContext(ctx, "migrated", "to", m.Source.Path, "took", m.Duration)
	}
	queue, err := s.queue()
	if err != nil {
		return err
	}
	if _, err := queue.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fault(err, "migrate the job queue")
	}
	for _, index := range jobIndexes {
		if _, err := s.writer.ExecContext(ctx, index); err != nil {
			return fault(err, "index the jobs")
		}
	}
	return s.Ping(ctx)
}

// lockMigration holds an exclusive transaction on an empty database file
// beside ours: a lock that ends with its process, on every system.
func (s *Store) lockMigration(ctx context.Context) (unlock func() error, err error) {
	file, err := sql.Open("sqlite", address(s.path+".migration-lock"))
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

// Ping answers nil when the database serves queries and its schema is this version's.
func (s *Store) Ping(ctx context.Context) error {
	var found versions
	const query = `SELECT (SELECT coalesce(max(version_id), 0) FROM goose_db_version),
		(SELECT coalesce(max(version), 0) FROM river_migration WHERE line = 'main')`
	if err := s.reader.QueryRowContext(ctx, query).Scan(&found.tables, &found.jobs); err != nil {
		return fault(err, "tell its version")
	}
	switch want := s.schema; {
	case found.tables > want.tables || found.jobs > want.jobs:
		return memory.Errorf(memory.KindUnavailable,
			"the database was migrated by a newer version (tables %d, jobs %d; this one knows %d and %d): run that version",
			found.tables, found.jobs, want.tables, want.jobs)
	case found != want:
		return memory.Errorf(memory.KindUnavailable,
			"the database is at an older version (tables %d, jobs %d; this one needs %d and %d): run `hippocampus migrate`",
			found.tables, found.jobs, want.tables, want.jobs)
	}
	return nil
}

func (s *Store) tables() (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, fmt.Errorf("open the migrations: %w", err)
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, s.writer, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, fmt.Errorf("read the migrations: %w", err)
	}
	return p, nil
}

func (s *Store) queue() (*rivermigrate.Migrator[*sql.Tx], error) {
	m, err := rivermigrate.New(riversqlite.New(s.writer), &rivermigrate.Config{Logger: s.log})
	if err != nil {
		return nil, fmt.Errorf("read the job queue's migrations: %w", err)
	}
	return m, nil
}

func (s *Store) wantedVersions() (v versions, err error) {
	ours, err := s.tables()
	if err != nil {
		return v, err
	}
	for _, source := range ours.ListSources() {
		v.tables = max(v.tables, source.Version)
	}
	queue, err := s.queue()
	if err != nil {
		return v, err
	}
	for _, m := range queue.AllVersions() {
		v.jobs = max(v.jobs, int64(m.Version))
	}
	return v, nil
}
