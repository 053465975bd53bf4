// Package stmtcache keeps the statements of SQLite's connections prepared, which
// costs more than to run most of them:
//
//	query -> idle statement with the same text, or a new one -> run
//	      -> idle again, the longest unused closed; closed after an error
//
// It stands between database/sql and a driver, so that nobody who runs queries
// knows of it. SQLite itself prepares a statement anew when the schema has
// changed under it.
package stmtcache

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
)

// Kept is how many statements a connection keeps at most while they are not in
// use: more than a server has on its frequent paths.
const Kept = 100

// Connector gives the connections of another connector, each with its prepared
// statements. A driver that offers less than modernc.org/sqlite is refused.
func Connector(of driver.Connector) driver.Connector { return connector{of} }

type connector struct{ driver.Connector }

// connection is what a driver's connection offers, and conn passes on.
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

// conn is a connection. Like any of driver.Conn it is used by one goroutine at
// a time.
type conn struct {
	connection
	idle []*statement // the longest unused first; those in use are not among them
}

// PrepareContext hands out an idle statement, which its Close gives back.
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

// QueryContext runs an idle statement, which the Close of its rows gives back.
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

// Close closes the idle statements and the connection. Those in use have been
// closed by database/sql before.
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
	fresh, err := c.connection.PrepareContext(ctx, forAnyLimit(query))
	if err != nil {
		return nil, err
	}
	whole, ok := fresh.(executor)
	if !ok {
		return nil, errors.Join(fmt.Errorf("a %T cannot be kept prepared", fresh), fresh.Close())
	}
	return &statement{executor: whole, conn: c, text: query}, nil
}

// give makes a statement idle, in place of the longest unused where there are many.
func (c *conn) give(s *statement) error {
	c.idle = append(c.idle, s)
	if len(c.idle) <= Kept {
		return nil
	}
	oldest := c.idle[0]
	c.idle = slices.Delete(c.idle, 0, 1)
	return oldest.executor.Close()
}
