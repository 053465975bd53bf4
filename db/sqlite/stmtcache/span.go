package stmtcache

import (
	"context"
	"database/sql/driver"
	"strings"
	"unicode"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"hippocampus/internal/tracing"
)

// startSpan starts the span of a statement within the span of ctx. The text of the statement has no values, since they
// are parameters.
func startSpan(ctx context.Context, query string) trace.Span {
	_, s := tracing.Start(ctx, verb(query))
	if s.IsRecording() {
		s.SetAttributes(attribute.String("db.system.name", "sqlite"), attribute.String("db.query.text", query))
	}
	return s
}

// verb returns the first word of a statement, after comments.
func verb(query string) string {
	for {
		query = strings.TrimLeft(query, " \t\r\n")
		comment, commented := strings.CutPrefix(query, "--")
		if !commented {
			break
		}
		_, query, _ = strings.Cut(comment, "\n")
	}
	if end := strings.IndexFunc(query, func(r rune) bool { return !unicode.IsLetter(r) }); end >= 0 {
		query = query[:end]
	}
	return query
}

// transaction makes a span of its commit, which waits for the disk.
type transaction struct {
	driver.Tx
	ctx context.Context
}

// BeginTx begins a transaction.
func (c *conn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	tx, err := c.connection.BeginTx(ctx, options)
	if err != nil || !trace.SpanFromContext(ctx).IsRecording() {
		return tx, err
	}
	return transaction{tx, ctx}, nil
}

// Commit commits the transaction.
func (t transaction) Commit() error {
	s := startSpan(t.ctx, "COMMIT")
	err := t.Tx.Commit()
	tracing.End(s, err)
	return err
}
