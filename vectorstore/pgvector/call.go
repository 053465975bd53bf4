package pgvector

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// call runs f, which is one transaction described by action, with a timeout. It
// repeats f, up to maxTries times in all, if Postgres aborted it to resolve a
// deadlock or if a rebuild replaced its table. The new table may be of the other kind, which a prepared statement does
// not fit.
func (w *writer) call(ctx context.Context, action string, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	return failed(ctx, action, retry(ctx, f))
}

const maxTries = 3

func retry(ctx context.Context, f func(context.Context) error) (err error) {
	for range maxTries {
		err = f(ctx)
		switch sqlState(err) {
		case deadlock, undefinedTable, datatypeMismatch, resultTypeChanged:
		default:
			return err
		}
	}
	return err
}

// SQLSTATE codes (https://www.postgresql.org/docs/current/errcodes-appendix.html).
const (
	deadlock                 = "40P01"
	lockTimeout              = "55P03"
	undefinedTable           = "42P01"
	datatypeMismatch         = "42804"
	resultTypeChanged        = "0A000" // of a prepared statement
	classLimitExceeded       = "54"
	classDataException       = "22"
	classConstraintViolation = "23"
)

func sqlState(err error) string {
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		return pgErr.Code
	}
	return ""
}

// failed returns nil if err is nil. Otherwise it is the error of an action:
// KindInvalid if repeating the request cannot succeed, else KindUnavailable.
func failed(ctx context.Context, action string, err error) error {
	known := new(memory.Error)
	code := sqlState(err)
	class := code[:min(len(code), 2)]
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return memory.Errorf(known.Kind, "%s: %w", action, err)
	case ctx.Err() != nil:
		return memory.Errorf(memory.KindUnavailable, "%s: %w", action, context.Cause(ctx))
	case class == classDataException, class == classConstraintViolation, class == classLimitExceeded:
		return memory.Errorf(memory.KindInvalid, "%s: pgvector refused it: %w", action, err)
	case code == undefinedTable:
		return memory.Errorf(memory.KindUnavailable, "%s: %w: %w", action, vectorstore.ErrGone, err)
	}
	return memory.Errorf(memory.KindUnavailable, "%s: the database is unavailable for now, try again: %w", action, err)
}
