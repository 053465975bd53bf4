package sqlitevec

import (
	"context"
	"database/sql"
)

// querier is a pool of connections or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// queryAll returns what scan reads from each row of a query.
func queryAll[T any](
	ctx context.Context, db querier, scan func(rows *sql.Rows) (T, error), query string, args ...any,
) (all []T, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

func scanName(rows *sql.Rows) (name string, err error) {
	err = rows.Scan(&name)
	return name, err
}

// inTx runs f in one transaction and ends it with commit.
func inTx(ctx context.Context, db *sql.DB, commit, f func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return err
	}
	return commit(tx)
}

// exec executes statements in one transaction.
func (s *Store) exec(ctx context.Context, commit func(tx *sql.Tx) error, statements ...string) error {
	return inTx(ctx, s.db, commit, func(tx *sql.Tx) error { return execAll(ctx, tx, statements) })
}

func execAll(ctx context.Context, tx *sql.Tx, statements []string) error {
	for _, statement := range statements {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// schema creates the table of the file's embedding space, which has one row, and the table of records.
var schema = []string{
	`CREATE TABLE IF NOT EXISTS space (
		one   INTEGER PRIMARY KEY CHECK (one = 1),
		model TEXT NOT NULL,
		dim   INTEGER NOT NULL
	) STRICT`,
	`CREATE TABLE IF NOT EXISTS records ` + columns,
	index,
	`DROP INDEX IF EXISTS records_of_user`, // the index of earlier versions
}

// columns of a table of records. The content comes last, so that a long one
// spills to overflow pages that a search does not read.
const columns = `(
	id          TEXT NOT NULL UNIQUE,
	app_id      TEXT NOT NULL,
	user_id     TEXT NOT NULL,
	agent_id    TEXT NOT NULL,
	domain      TEXT NOT NULL,
	memory_type TEXT NOT NULL,
	created_at  INTEGER NOT NULL, -- unix milliseconds
	embedding   BLOB NOT NULL,    -- unit length, 32-bit floats, little-endian
	content     TEXT NOT NULL
) STRICT`

// index finds a user's records, also those of an interval of time without reading the others.
const index = `CREATE INDEX IF NOT EXISTS records_of_user_by_time ON records (app_id, user_id, created_at)`
