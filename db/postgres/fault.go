package postgres

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"
	"github.com/riverqueue/river/riverdriver"

	"hippocampus/db/sqlstore"
	"hippocampus/internal/memory"
)

// fault is sqlstore.Fault for the driver's errors.
func fault(err error, doing string) error { return sqlstore.Fault(err, doing, kindOf, lacksTables) }

// kindOf classifies an error by the SQLSTATE if Postgres answered
// (https://www.postgresql.org/docs/current/errcodes-appendix.html), else by
// what happened to the connection.
func kindOf(err error) memory.Kind {
	code := sqlState(err)
	switch {
	case code == uniqueViolation:
		return memory.KindConflict
	case strings.HasPrefix(code, "22"), strings.HasPrefix(code, "23"):
		return memory.KindInvalid // NUL or bad encoding, no uuid, out of range, check violated
	case strings.HasPrefix(code, "08"), // connection
		strings.HasPrefix(code, "28"),    // refused: wrong password
		code == "3D000",                  // no such database
		strings.HasPrefix(code, "40"),    // deadlock, serialization
		strings.HasPrefix(code, "53"),    // too many clients, disk full
		strings.HasPrefix(code, "57"),    // shutdown, statement timeout
		strings.HasPrefix(code, "58"),    // I/O
		code == "25006",                  // read-only: a standby
		code == "25P03", code == "25P04", // a transaction was idle for too long, or took too long
		code == "55P03",                  // lock timeout
		code == "42P01", code == "3F000": // no tables, no schema
		return memory.KindUnavailable
	case code != "":
		return memory.KindInternal
	case errors.Is(err, pgx.ErrNoRows):
		return memory.KindNotFound
	}
	var connect *pgconn.ConnectError
	var network net.Error
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, puddle.ErrClosedPool) || errors.Is(err, riverdriver.ErrClosedPool) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.As(err, &connect) || errors.As(err, &network) ||
		pgconn.SafeToRetry(err) || pgconn.Timeout(err) {
		return memory.KindUnavailable
	}
	return memory.KindInternal
}

// uniqueViolation is the SQLSTATE of a row whose key another row has.
const uniqueViolation = "23505"

// diskFull is the SQLSTATE of a change for which there is no room.
const diskFull = "53100"

// tries limits how often to run a transaction that Postgres ends in favour of
// others. pause limits the random wait before the next try, which keeps two
// transactions from colliding again.
const (
	tries = 6
	pause = 100 * time.Millisecond
)

// again runs f, which is one transaction, and repeats it if Postgres ended it to
// resolve a deadlock or a serialization conflict. Batches lock rows in the order
// of their ids but a user's transaction locks them in the order of its changes, so
// that the two can deadlock.
func again(ctx context.Context, f func() error) (err error) {
	for range tries {
		err = f()
		if code := sqlState(err); code != "40P01" && code != "40001" {
			return err
		}
		timer := time.NewTimer(rand.N(pause))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
	return err
}

// lacksTables reports whether the schema has not been made yet.
func lacksTables(err error) bool {
	code := sqlState(err)
	return code == "42P01" || code == "3F000"
}

func sqlState(err error) string {
	var answered *pgconn.PgError
	if errors.As(err, &answered) {
		return answered.Code
	}
	return ""
}

// notFound is the error for an id that no row has.
func notFound(what, id string) error { return sqlstore.NotFound(what, id) }
