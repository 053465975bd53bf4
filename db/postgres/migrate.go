package postgres

import (
	"cmp"
	"context"
	"embed"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"hippocampus/db/postgres/partition"
	"hippocampus/db/sqlstore"
	"hippocampus/internal/memory"
)

//go:embed migrations
var migrationFiles embed.FS

// Migrate brings the schema, River's tables included, to this version. One
// process migrates at a time; the others wait for it. Its statements have no timeout.
func (s *Store) Migrate(ctx context.Context) error {
	// The lock needs a connection of its own, since the pool may have only one.
	guard, err := pgx.ConnectConfig(ctx, s.unlimited.ConnConfig)
	if err != nil {
		return unreachable(s.unlimited.ConnConfig, err)
	}
	defer guard.Close(context.WithoutCancel(ctx)) // releases the lock
	const lock = `SELECT pg_advisory_lock(hashtextextended('hippocampus migrate ' || current_schema(), 0))`
	if _, err := guard.Exec(ctx, lock); err != nil {
		return fault(err, "lock the schema")
	}
	pool, err := pgxpool.NewWithConfig(ctx, s.unlimited.Copy())
	if err != nil {
		return unreachable(s.unlimited.ConnConfig, err)
	}
	defer pool.Close()
	migrations, done, err := s.migrations(pool)
	if err != nil {
		return err
	}
	defer func() { _ = done() }()
	under, err := partition.Under(ctx, guard)
	if err != nil {
		return fault(err, "look whether the tables are being partitioned")
	}
	if under {
		if err := s.Ping(ctx); err != nil {
			return memory.Errorf(memory.KindConflict, "the tables cannot be altered while they are being partitioned: "+
				"finish with `hippocampus partition`, or give it up with `hippocampus partition --cancel`: %w", err)
		}
	}
	if err := migrations.Up(ctx, fault); err != nil {
		return err
	}
	return s.Ping(ctx)
}

func (s *Store) Ping(ctx context.Context) error {
	return cmp.Or(s.CheckVersions(ctx, s.schema), s.disk.Err())
}

// migrations returns the migrations; done ends their use of the pool.
func (s *Store) migrations(pool *pgxpool.Pool) (m sqlstore.Migrations[pgx.Tx], done func() error, err error) {
	database := stdlib.OpenDBFromPool(pool)
	m, err = sqlstore.NewMigrations(goose.DialectPostgres, database, migrationFiles, riverpgxv5.New(pool), s.log)
	return m, database.Close, err
}
