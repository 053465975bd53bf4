// Package stmtcache keeps the statements of SQLite's connections prepared, since
// preparing most of them costs more than running them:
//
//	query -> idle statement with the same text, or a new one -> run
//	      -> idle again, the longest unused closed; closed after an error
//
// It wraps a driver for database/sql, so that callers run their queries as usual.
// SQLite itself prepares a statement again after the schema has changed.
package stmtcache

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
)

// Kept limits the idle statements of a connection. It exceeds the number of
// statements on a server's frequent paths.
const Kept = 100

// Connector returns a connector whose connections keep their statements prepared.
// It refuses a driver that offers less than modernc.org/sqlite does.
func Connector(of driver.Connector) driver.Connector { return connector{of} }

type connector struct{ driver.Connector }

// connection has the methods of a driver's connection that conn passes on.
type connection interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// Connect opens a connection.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	whole, ok := opened.(connection)
	if !ok {
		return nil, errors.Join(fmt.Errorf("a %T cannot keep its statements prepared", opened), opened.Close())
	}
	return &conn{connection: whole}, nil
}

// conn is a connection. Like every driver.Conn, it is used by one goroutine at a time.
type conn struct {
	connection
	idle []*statement // the longest unused first, without those in use
}

// PrepareContext returns an idle statement, whose Close gives it back.
func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if !repeats(query) {
		return c.connection.PrepareContext(ctx, query)
	}
	return c.take(ctx, query)
}

// Prepare is PrepareContext without a context.
func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// ExecContext runs an idle statement.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if !repeats(query) {
		return c.connection.ExecContext(ctx, query, args)
	}
	s, err := c.take(ctx, query)
	if err != nil {
		return nil, err
	}
	result, err := s.ExecContext(ctx, args)
	return result, cmp.Or(err, s.Close())
}

// QueryContext runs an idle statement, and the Close of its rows gives it back.
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if !repeats(query) {
		return c.connection.QueryContext(ctx, query, args)
	}
	s, err := c.take(ctx, query)
	if err != nil {
		return nil, err
	}
	found, err := s.query(ctx, args)
	if err != nil {
		return nil, cmp.Or(err, s.Close())
	}
	found.last = true
	return found, nil
}

// Close closes the idle statements and the connection. database/sql has closed
// those in use before.
func (c *conn) Close() error {
	var errs []error
	for _, s := range c.idle {
		errs = append(errs, s.executor.Close())
	}
	c.idle = nil
	return errors.Join(append(errs, c.connection.Close())...)
}

// take finds an idle statement or prepares one.
func (c *conn) take(ctx context.Context, query string) (*statement, error) {
	for i, s := range slices.Backward(c.idle) {
		if s.text == query {
			c.idle = slices.Delete(c.idle, i, i+1)
			return s, nil
		}
	}
	prepared, err := c.connection.PrepareContext(ctx, forAnyLimit(query))
	if err != nil {
		return nil, err
	}
	whole, ok := prepared.(executor)
	if !ok {
		return nil, errors.Join(fmt.Errorf("a %T cannot be kept prepared", prepared), prepared.Close())
	}
	return &statement{executor: whole, conn: c, text: query}, nil
}

// give makes a statement idle, and closes the longest unused one if there are too many.
func (c *conn) give(s *statement) error {
	c.idle = append(c.idle, s)
	if len(c.idle) <= Kept {
		return nil
	}
	oldest := c.idle[0]
	c.idle = slices.Delete(c.idle, 0, 1)
	return oldest.executor.Close()
}
