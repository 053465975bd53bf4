package api

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

const defaultPage = 50 // rows

const invalidCursor = "is not a cursor of this API: send the next_cursor of the previous page, unchanged"

// list makes the handler of a list that is read page by page:
//
//	cursor, limit and other parameters -> filter -> find -> {"<name>": [...], "next_cursor": "..."}
type list[Filter, Row, Body any] struct {
	name     string            // of the field that holds the rows
	isID     func(string) bool // reports whether a cursor may hold an id; nil: memory.IsID
	filter   func(r *request, p page) Filter
	find     func(ctx context.Context, f Filter) ([]Row, error)
	body     func(Row) Body
	position func(Row) db.Position // by which the rows are ordered
}

func (l list[Filter, Row, Body]) handle(ctx context.Context, r *request) (any, error) {
	if l.isID == nil {
		l.isID = memory.IsID
	}
	p := page{limit: r.limit(), before: r.cursor(l.isID)}
	filter := l.filter(r, p)
	if err := r.err(); err != nil {
		return nil, err
	}
	rows, err := l.find(ctx, filter)
	if err != nil {
		return nil, err
	}
	body := pageBody{name: l.name, rows: bodiesOf(rows, l.body)}
	if n := len(rows); n > 0 && n >= p.limit {
		body.next = formatCursor(l.position(rows[n-1]))
	}
	return body, nil
}

// page is the part of a list that a request asks for.
type page struct {
	limit  int
	before *db.Position // nil: from the newest
}

// after is the name that a list ordered by names continues after; "" at its beginning.
func (p page) after() string {
	if p.before == nil {
		return ""
	}
	return p.before.ID
}

// namePosition is the position of a row in a list that is ordered by names.
func namePosition(name string) db.Position { return db.Position{At: time.UnixMicro(0), ID: name} }

// pageBody is one page of a list; its JSON has the rows first.
type pageBody struct {
	name string
	rows any
	next string // cursor of the next page; empty on the last one
}

func (b pageBody) MarshalJSON() ([]byte, error) {
	rows, err := json.Marshal(b.rows)
	if err != nil || b.next == "" {
		return fmt.Appendf(nil, `{%q:%s}`, b.name, rows), err
	}
	return fmt.Appendf(nil, `{%q:%s,"next_cursor":%q}`, b.name, rows, b.next), nil
}

// bodiesOf converts each item of a list. The result is never nil, so that its JSON is [].
func bodiesOf[T, Body any](items []T, body func(T) Body) []Body {
	bodies := make([]Body, len(items))
	for i, item := range items {
		bodies[i] = body(item)
	}
	return bodies
}

// limit reads the query parameter limit.
func (r *request) limit() int {
	text := r.query.Get("limit")
	if text == "" {
		return defaultPage
	}
	limit, err := strconv.Atoi(text)
	if err != nil {
		r.note("query.limit", "is not written as a plain integer")
	}
	return limit
}

// cursor reads the query parameter cursor; nil if it is absent.
func (r *request) cursor(isID func(string) bool) *db.Position {
	text := r.query.Get("cursor")
	if text == "" {
		return nil
	}
	position, err := parseCursor(text, isID)
	if err != nil {
		r.note("query.cursor", invalidCursor)
	}
	return &position
}

// A cursor is the position of the last row of a page: microseconds, a dot and
// the id, in base64url.
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
