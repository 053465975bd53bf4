package postgres

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"hippocampus/internal/memory"
)

//go:embed migrations/*.sql
var migrations embed.FS

// versions are those of our tables and of River's.
type versions struct{ tables, jobs int64 }

// Migrate brings the schema, River's tables included, to this version. One
// process migrates at a time; the others wait for it.
func (s *Store) Migrate(ctx context.Context) error {
	// The lock lives on a connection beside the pool, which may have but one.
	guard, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return unreachable(s.pool.Config().ConnConfig, err)
	}
	defer guard.Close(context.WithoutCancel(ctx)) // releases the lock
	const lock = `SELECT pg_advisory_lock(hashtextextended('hippocampus migrate ' || current_schema(), 0))`
	if _, err := guard.Exec(ctx, lock); err != nil {
		return fault(err, "lock the schema")
	}

	ours, closeOurs, err := s.tables()
	if err != nil {
		return err
	}
	defer closeOurs()
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
	return s.Ping(ctx)
}

// Ping answers nil when the database serves queries and its schema is this version's.
func (s *Store) Ping(ctx context.Context) error {
	var found versions
	const query = `SELECT (SELECT coalesce(max(version_id), 0) FROM goose_db_version),
		(SELECT coalesce(max(version), 0) FROM river_migration WHERE line = 'main')`
	if err := s.pool.QueryRow(ctx, query).Scan(&found.tables, &found.jobs); err != nil {
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

func (s *Store) tables() (p *goose.Provider, done func() error, err error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, nil, fmt.Errorf("open the migrations: %w", err)
	}
	pool := stdlib.OpenDBFromPool(s.pool)
	p, err = goose.NewProvider(goose.DialectPostgres, pool, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, nil, fmt.Errorf("read the migrations: %w", err)
	}
	return p, pool.Close, nil
}

func (s *Store) queue() (*rivermigrate.Migrator[pgx.Tx], error) {
	m, err := rivermigrate.New(riverpgxv5.New(s.pool), &rivermigrate.Config{Logger: s.log})
	if err != nil {
		return nil, fmt.Errorf("read the job queue's migrations: %w", err)
	}
	return m, nil
}

func (s *Store) wantedVersions() (v versions, err error) {
	ours, done, err := s.tables()
	if err != nil {
		return v, err
	}
	defer done()
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
