package pgvector

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// call runs f with the time that a call may take.
func (w *writer) call(ctx context.Context, doing string, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	return failed(ctx, doing, again(ctx, f))
}

// tries is how often a transaction is run that Postgres ends in favour of others.
const tries = 3

// again runs f, which is one transaction, and once more each time that Postgres
// ended it to resolve a deadlock, or that a table was changed over under it.
func again(ctx context.Context, f func(context.Context) error) (err error) {
	for range tries {
		if err = f(ctx); sqlState(err) != deadlock && sqlState(err) != undefinedTable {
			return err
		}
	}
	return err
}

// What Postgres answers (https://www.postgresql.org/docs/current/errcodes-appendix.html).
const (
	deadlock       = "40P01"
	lockTimeout    = "55P03"
	undefinedTable = "42P01"
	tooMuch        = "54" // class: program limit exceeded
	wrongData      = "22" // class
	violation      = "23" // class
)

func sqlState(err error) string {
	var answered *pgconn.PgError
	if errors.As(err, &answered) {
		return answered.Code
	}
	return ""
}

// failed is the error of a step: KindInvalid when Postgres says that the request
// is wrong however often it is repeated, else KindUnavailable.
func failed(ctx context.Context, doing string, err error) error {
	known := new(memory.Error)
	code := sqlState(err)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return memory.Errorf(known.Kind, "%s: %w", doing, err)
	case ctx.Err() != nil:
		return memory.Errorf(memory.KindUnavailable, "%s: %w", doing, context.Cause(ctx))
	case strings.HasPrefix(code, wrongData), strings.HasPrefix(code, violation), strings.HasPrefix(code, tooMuch):
		return memory.Errorf(memory.KindInvalid, "%s: pgvector refused it: %w", doing, err)
	case code == undefinedTable:
		return memory.Errorf(memory.KindUnavailable, "%s: %w: %w", doing, vectorstore.ErrGone, err)
	}
	return memory.Errorf(memory.KindUnavailable, "%s: the database could not do it for now, try again: %w", doing, err)
}
