package postgres

import (
	"strconv"
	"strings"
)

// conditions builds the WHERE clause of a list whose filters are optional.
// Values are only ever parameters.
type conditions struct {
	terms []string
	args  []any
}

// add appends a term; each ? in it stands for the next of its values.
func (c *conditions) add(term string, values ...any) {
	for _, v := range values {
		term = strings.Replace(term, "?", c.arg(v), 1)
	}
	c.terms = append(c.terms, term)
}

// arg appends a value and returns its placeholder.
func (c *conditions) arg(v any) string {
	c.args = append(c.args, v)
	return "$" + strconv.Itoa(len(c.args))
}

func (c *conditions) sql() string { return strings.Join(c.terms, " AND ") }
