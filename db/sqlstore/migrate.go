package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivermigrate"

	"hippocampus/internal/memory"
)

// Schema is the version of a new database. The files of migrations/00071_schema make it.
const Schema = 71

// Versions are the schema versions of this program's tables and of River's.
type Versions struct{ Tables, Jobs int64 }

// Migrations bring a schema to the versions that this program needs.
type Migrations[DriverTx any] struct {
	Tables *goose.Provider
	Jobs   *rivermigrate.Migrator[DriverTx]
	tables *sql.DB
	log    *slog.Logger
}

// NewMigrations reads the folder "migrations" of files, which are run on a
// database of the dialect, and River's own migrations. The folder has the schema of
// a new database in the folder 00071_schema, and each later change in a file of its own.
func NewMigrations[DriverTx any](
	dialect goose.Dialect, database *sql.DB, files fs.FS, driver riverdriver.Driver[DriverTx], log *slog.Logger,
) (m Migrations[DriverTx], err error) {
	folder, err := fs.Sub(files, "migrations")
	if err != nil {
		return m, fmt.Errorf("open the migrations: %w", err)
	}
	m.tables, m.log = database, log
	m.Tables, err = goose.NewProvider(dialect, database, folder, goose.WithDisableGlobalRegistry(true),
		goose.WithGoMigrations(goose.NewGoMigration(Schema, &goose.GoFunc{
			RunTx: func(ctx context.Context, tx *sql.Tx) error { return makeTables(ctx, tx, folder) },
		}, nil)))
	if err != nil {
		return m, fmt.Errorf("read the migrations: %w", err)
	}
	m.Jobs, err = rivermigrate.New(driver, &rivermigrate.Config{Logger: log})
	if err != nil {
		return m, fmt.Errorf("read the job queue's migrations: %w", err)
	}
	return m, nil
}

// Wanted returns the versions that this program needs.
func (m Migrations[DriverTx]) Wanted() (v Versions) {
	for _, source := range m.Tables.ListSources() {
		v.Tables = max(v.Tables, source.Version)
	}
	for _, migration := range m.Jobs.AllVersions() {
		v.Jobs = max(v.Jobs, int64(migration.Version))
	}
	return v
}

// Up runs the migrations that have not been run.
func (m Migrations[DriverTx]) Up(ctx context.Context, fault func(err error, doing string) error) error {
	if err := m.refuseUnsupported(ctx, fault); err != nil {
		return err
	}
	done, err := m.Tables.Up(ctx)
	if err != nil {
		return fault(err, "migrate its tables")
	}
	for _, migration := range done {
		m.log.InfoContext(ctx, "migrated", "to", migration.Source.Version, "took", migration.Duration)
	}
	_, err = m.Jobs.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return fault(err, "migrate the job queue")
}

// makeTables makes the tables of a new database. The statements of a file are sent at once.
func makeTables(ctx context.Context, tx *sql.Tx, folder fs.FS) error {
	names, err := fs.Glob(folder, fmt.Sprintf("%05d_schema/*.sql", Schema))
	if err != nil {
		return err
	}
	for _, name := range names {
		statements, err := fs.ReadFile(folder, name)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, string(statements)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// refuseUnsupported refuses tables that the migrations of this program do not continue.
func (m Migrations[DriverTx]) refuseUnsupported(
	ctx context.Context, fault func(err error, doing string) error,
) error {
	version, err := m.Tables.GetDBVersion(ctx)
	if err != nil {
		return fault(err, "tell its version")
	}
	if version > 0 && version < Schema {
		return memory.Errorf(memory.KindConflict,
			"the database has tables of version %d, and only those of version %d or later are migrated: write its memories "+
				"to a file with `hippocampus export` of the build that made it, start this one on an empty database or "+
				"schema, and read the file there with `hippocampus import`", version, Schema)
	}
	for _, table := range []string{"turns", "agent_memories"} {
		var n int
		if version == 0 &&
			m.tables.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 FROM `+table+` LIMIT 1) AS any_row`).Scan(&n) == nil {
			return memory.Errorf(memory.KindConflict,
				"the database has a table %s that no supported version has made, and it cannot be migrated: use an empty database "+
					"or schema, and write its memories there with `hippocampus import` or POST /v1/memories/batch", table)
		}
	}
	return nil
}

// CheckVersions returns nil if the database serves queries and its schema has
// the wanted versions.
func (s *Store) CheckVersions(ctx context.Context, want Versions) error {
	found, _, err := first(ctx, s.conn, func(v *Versions) []any { return []any{&v.Tables, &v.Jobs} }, `
		SELECT (SELECT coalesce(max(version_id), 0) FROM goose_db_version),
			(SELECT coalesce(max(version), 0) FROM river_migration WHERE line = 'main')`)
	switch {
	case err != nil:
		return s.fault(err, "tell its version")
	case found.Tables > want.Tables || found.Jobs > want.Jobs:
		return memory.Errorf(memory.KindUnavailable,
			"the database was migrated by a newer version (tables %d, jobs %d; this one knows %d and %d): run that version",
			found.Tables, found.Jobs, want.Tables, want.Jobs)
	case found != want:
		return memory.Errorf(memory.KindUnavailable,
			"the database is at an older version (tables %d, jobs %d; this one needs %d and %d): run `hippocampus migrate`",
			found.Tables, found.Jobs, want.Tables, want.Jobs)
	}
	return nil
}
