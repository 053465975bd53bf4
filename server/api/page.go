package api

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

const defaultPage = 50 // rows

// page is which part of a list a request asks for.
type page struct {
	limit  int
	before *db.Position // nil: from the newest
}

// page reads the query parameters limit and cursor of a list of what has our ids.
func (c *checks) page(r *request) page { return c.pageOf(r, memory.IsID) }

// pageOf is page for a list of what has other ids.
func (c *checks) pageOf(r *request, isID func(string) bool) page {
	p := page{limit: c.limit(r)}
	if text := r.query.Get("cursor"); text != "" {
		at, err := parseCursor(text, isID)
		if err != nil {
			c.note("query.cursor", notACursor)
		}
		p.before = &at
	}
	return p
}

const notACursor = "is no cursor of ours: send next_cursor of the page before, unchanged"

// limit reads the query parameter limit.
func (c *checks) limit(r *request) int {
	text := r.query.Get("limit")
	if text == "" {
		return defaultPage
	}
	limit, err := strconv.Atoi(text)
	if err != nil {
		c.note("query.limit", "is not written as a plain integer")
	}
	return limit
}

// next is the cursor of the page after one of n rows that ends with last; ""
// where this page is the end.
func (p page) next(n int, last func() db.Position) string {
	if n < p.limit {
		return ""
	}
	return formatCursor(last())
}

// A cursor is the position of the last row seen: microseconds, a dot, the id,
// in base64url.
func formatCursor(p db.Position) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d.%s", p.At.UnixMicro(), p.ID))
}

func parseCursor(text string, isID func(string) bool) (db.Position, error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return db.Position{}, err
	}
	micros, id, _ := strings.Cut(string(raw), ".")
	n, err := strconv.ParseInt(micros, 10, 64)
	if err != nil {
		return db.Position{}, err
	}
	at := time.UnixMicro(n).UTC()
	if !isID(id) || at.Year() < firstYear || at.Year() > lastYear {
		return db.Position{}, errors.New("the position lies outside every list")
	}
	return db.Position{At: at, ID: id}, nil
}
