package stmtcache

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"go.opentelemetry.io/otel/trace"

	"hippocampus/internal/tracing"
)

// executor has the methods of a driver's statement that statement passes on.
type executor interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// statement is a statement in use.
type statement struct {
	executor
	conn   *conn
	text   string
	failed bool // SQLite may have stopped half-way: do not reuse it
}

func (s *statement) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	running := startSpan(ctx, s.text)
	result, err := s.executor.ExecContext(ctx, args)
	tracing.End(running, err)
	s.failed = s.failed || err != nil
	return result, err
}

func (s *statement) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	found, err := s.query(ctx, args)
	if err != nil {
		return nil, err // not found: a nil *rows is a driver.Rows that is not nil
	}
	return found, nil
}

func (s *statement) query(ctx context.Context, args []driver.NamedValue) (*rows, error) {
	running := startSpan(ctx, s.text)
	found, err := s.executor.QueryContext(ctx, args)
	if err != nil {
		tracing.End(running, err)
		s.failed = true
		return nil, err
	}
	whole, ok := found.(result)
	if !ok {
		running.End()
		s.failed = true
		return nil, errors.Join(fmt.Errorf("a %T is not what SQLite's rows are", found), found.Close())
	}
	return &rows{result: whole, of: s, span: running}, nil
}

// Close gives the statement back to its connection.
func (s *statement) Close() error {
	if s.failed {
		return s.executor.Close()
	}
	return s.conn.give(s)
}

// result has the methods of a driver's rows that rows passes on.
type result interface {
	driver.Rows
	driver.RowsColumnTypeDatabaseTypeName
	driver.RowsColumnTypeLength
	driver.RowsColumnTypeNullable
	driver.RowsColumnTypePrecisionScale
	driver.RowsColumnTypeScanType
}

// rows are the result of a statement.
type rows struct {
	result
	of   *statement
	last bool // closing them ends the use of their statement
	span trace.Span
}

func (r *rows) Next(row []driver.Value) error {
	err := r.result.Next(row)
	r.of.failed = r.of.failed || err != nil && !errors.Is(err, io.EOF)
	return err
}

// Close ends the reading.
func (r *rows) Close() error {
	err := r.result.Close()
	tracing.End(r.span, err)
	r.of.failed = r.of.failed || err != nil
	if r.last {
		return cmp.Or(err, r.of.Close())
	}
	return err
}

// repeats reports whether a statement is of a kind that is run often and that takes
// effect only when it is run. SQLite runs a part of some PRAGMAs when they are prepared.
func repeats(query string) bool {
	return slices.Contains([]string{"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"}, verb(query))
}

var boundLimit = regexp.MustCompile(`\bLIMIT\s+\?`)

// forAnyLimit rewrites a statement so that it stays prepared. SQLite plans a
// statement for the value of a bare parameter after LIMIT, and so prepares it again
// for each binding, which costs a turn about 10 us.
func forAnyLimit(query string) string { return boundLimit.ReplaceAllLiteralString(query, "LIMIT +?") }
