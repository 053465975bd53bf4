package sqlstore

import (
	"context"
	"strconv"
	"strings"
)

// conn runs the queries of this package on a Querier.
type conn struct {
	on      Querier
	dialect Dialect
	fault   func(err error, doing string) error
}

// exec runs a statement and returns how many rows it affected.
func (c conn) exec(ctx context.Context, query string, args ...any) (int, error) {
	return c.on.Exec(ctx, c.dialect.text(query), c.dialect.args(args))
}

// execAll runs a statement once with each of the rows as its parameters, and returns
// how many rows it affected in all.
func (c conn) execAll(ctx context.Context, query string, rows [][]any) (int, error) {
	for _, row := range rows {
		c.dialect.args(row)
	}
	return c.on.ExecAll(ctx, c.dialect.text(query), rows)
}

// require returns the fault of a query, or the error otherwise if the query
// succeeded but ok is false.
func (c conn) require(ok bool, err error, doing string, otherwise error) error {
	if err == nil && !ok {
		return otherwise
	}
	return c.fault(err, doing)
}

// each runs a query and calls f after each row has been scanned into dests.
func (c conn) each(ctx context.Context, dests []any, f func() error, query string, args ...any) error {
	dests = c.dialect.dests(dests)
	return c.on.Query(ctx, c.dialect.text(query), c.dialect.args(args), func(scan Scan) error {
		if err := scan(dests...); err != nil {
			return err
		}
		return f()
	})
}

// collect runs a query and reads each row into a T by the destinations that
// fields returns.
func collect[T any](ctx context.Context, c conn, fields func(*T) []any, query string, args ...any) ([]T, error) {
	found := []T{}
	err := c.on.Query(ctx, c.dialect.text(query), c.dialect.args(args), func(scan Scan) error {
		var item T
		err := scan(c.dialect.dests(fields(&item))...)
		found = append(found, item)
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// page is collect for the first rows of a list in an order. query ends before
// the conditions.
func page[T any](
	ctx context.Context, c conn, fields func(*T) []any, query string, where Conditions, order string, limit int,
) ([]T, error) {
	most := where.Arg(limit)
	return collect(ctx, c, fields, query+where.SQL()+` ORDER BY `+order+` LIMIT `+most, where.Args...)
}

// first returns the first row of a query. ok is false if there is no row.
func first[T any](
	ctx context.Context, c conn, fields func(*T) []any, query string, args ...any,
) (item T, ok bool, err error) {
	found, err := collect(ctx, c, fields, query, args...)
	if err != nil || len(found) == 0 {
		return item, false, err
	}
	return found[0], true, nil
}

// only is the destination of a query for one column.
func only[T any](value *T) []any { return []any{value} }

// Conditions builds the WHERE clause of a list whose filters are optional.
// Values are only ever parameters.
type Conditions struct {
	Terms []string
	Args  []any
}

// Add appends a term; each ? in it stands for the next of its values.
func (c *Conditions) Add(term string, values ...any) {
	for _, v := range values {
		term = strings.Replace(term, "?", c.Arg(v), 1)
	}
	c.Terms = append(c.Terms, term)
}

// Arg appends a value and returns its placeholder.
func (c *Conditions) Arg(v any) string {
	c.Args = append(c.Args, v)
	return "$" + strconv.Itoa(len(c.Args))
}

// SQL returns the terms as one condition.
func (c *Conditions) SQL() string { return strings.Join(c.Terms, " AND ") }
