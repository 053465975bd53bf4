package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"hippocampus/internal/memory"
)

// retryAfter is what a caller is told when the database is away or busy.
const retryAfter = time.Second

// fault gives an error of the driver its memory.Kind and says what was being
// done, for example "store the turn". An error that has a kind already is left alone.
func fault(err error, doing string) error {
	if known := new(memory.Error); err == nil || errors.As(err, &known) {
		return err
	}
	kind := kindOf(err)
	switch kind {
	case memory.KindUnavailable:
		if withoutTables(err) {
			err = fmt.Errorf("the database cannot %s before its tables are made (run `hippocampus migrate`): %w", doing, err)
		} else {
			err = fmt.Errorf("the database could not %s for now, try again: %w", doing, err)
		}
		return &memory.Error{Kind: kind, Err: err, RetryAfter: retryAfter}
	case memory.KindNotFound:
		return memory.Errorf(kind, "cannot %s: there is none", doing)
	}
	return memory.Errorf(kind, "cannot %s: %w", doing, err)
}

// kindOf classes an error by SQLite's result code (https://www.sqlite.org/rescode.html).
func kindOf(err error) memory.Kind {
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return memory.KindNotFound
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, sql.ErrConnDone), errors.Is(err, sql.ErrTxDone),
		strings.Contains(err.Error(), "database is closed"), // database/sql has no value for it
		withoutTables(err):
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

func withoutTables(err error) bool {
	return strings.Contains(err.Error(), "no such table")
}

// notFound is the error for an id of which there is no row.
func notFound(what, id string) error {
	return memory.Errorf(memory.KindNotFound, "there is no %s %q: check the id", what, shorten(id))
}

func shorten(s string) string {
	const most = 64
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}
