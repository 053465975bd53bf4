package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"hippocampus/db/sqlite/sqlitefile"
	"hippocampus/db/sqlstore"
	"hippocampus/internal/memory"
)

// fault is sqlstore.Fault for the driver's errors.
func fault(err error, doing string) error { return sqlstore.Fault(err, doing, kindOf, lacksTables) }

// kindOf classifies an error by SQLite's result code (https://www.sqlite.org/rescode.html).
func kindOf(err error) memory.Kind {
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return memory.KindNotFound
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, sqlitefile.ErrBusy), errors.Is(err, sql.ErrConnDone), errors.Is(err, sql.ErrTxDone),
		strings.Contains(err.Error(), "database is closed"), // database/sql has no value for it
		lacksTables(err):
		return memory.KindUnavailable
	}
	var answered *sqlite.Error
	if !errors.As(err, &answered) {
		return memory.KindInternal
	}
	switch answered.Code() {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		return memory.KindConflict
	}
	switch answered.Code() & 0xff { // the primary code
	case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_MISMATCH:
		return memory.KindInvalid
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_PROTOCOL,
		sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY,
		sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PERM:
		return memory.KindUnavailable
	}
	return memory.KindInternal
}

func isFull(err error) bool {
	var answered *sqlite.Error
	return errors.As(err, &answered) && answered.Code()&0xff == sqlite3.SQLITE_FULL
}

func lacksTables(err error) bool {
	return strings.Contains(err.Error(), "no such table")
}

// notFound is the error for an id that no row has.
func notFound(what, id string) error { return sqlstore.NotFound(what, id) }
