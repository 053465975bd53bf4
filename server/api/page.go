package api

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

const defaultPage = 50 // rows

const invalidCursor = "is not a cursor of this API: send the next_cursor of the previous page, unchanged"

// list makes the handler of a list that is read page by page:
//
//	cursor, limit and other parameters -> filter -> find -> {"<name>": [...], "next_cursor": "..."}
type list[Filter, Row, Body any] struct {
	name     string // of the field that holds the rows
	named    bool   // whether a row is identified by a name that a client chose, and not by a UUID
	filter   func(r *request, p page) Filter
	find     func(ctx context.Context, f Filter) ([]Row, error)
	body     func(Row) Body
	position func(Row) db.Position // by which the rows are ordered

	// end returns where a page that may compare so many rows ends, and limits the filter to it. Optional.
	end func(ctx context.Context, f *Filter, examine int) (*db.Position, error)
}

func (l list[Filter, Row, Body]) handle(ctx context.Context, r *request) (any, error) {
	p := page{limit: r.limit(), before: r.cursor(l.named)}
	examine := r.integer("examine", 0)
	filter := l.filter(r, p)
	err := r.err()
	if err != nil {
		return nil, err
	}
	var end *db.Position
	if examine > 0 && l.end != nil {
		if end, err = l.end(ctx, &filter, examine); err != nil {
			return nil, err
		}
	}
	rows, err := l.find(ctx, filter)
	if err != nil {
		return nil, err
	}
	body := pageBody{name: l.name, rows: bodiesOf(rows, l.body)}
	switch n := len(rows); {
	case n > 0 && n >= p.limit:
		body.next = formatCursor(l.position(rows[n-1]), l.named)
	case end != nil:
		body.next = formatCursor(*end, l.named)
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
func (r *request) limit() int { return r.integer("limit", defaultPage) }

// integer reads a query parameter whose limits openapi.yaml states.
func (r *request) integer(name string, absent int) int {
	text := r.query.Get(name)
	if text == "" {
		return absent
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		r.note("query."+name, "is not written as a plain integer")
	}
	return n
}

// cursor reads the query parameter cursor; nil if it is absent.
func (r *request) cursor(named bool) *db.Position {
	text := r.query.Get("cursor")
	if text == "" {
		return nil
	}
	position, ok := parseCursor(text, named)
	if !ok {
		r.note("query.cursor", invalidCursor)
	}
	return &position
}

// A cursor is the position of the last row of a page: microseconds, a dot and the id. A name is
// written in base64url. openapi.yaml states this form, so that every text of this form is a position.
func formatCursor(p db.Position, named bool) string {
	id := p.ID
	if named {
		id = base64.RawURLEncoding.EncodeToString([]byte(id))
	}
	return fmt.Sprintf("%d.%s", p.At.UnixMicro(), id)
}

// maxMicros is the number of digits of a time in microseconds.
const maxMicros = 16

func parseCursor(text string, named bool) (p db.Position, ok bool) {
	micros, id, _ := strings.Cut(text, ".")
	n, err := strconv.ParseUint(micros, 10, 63)
	if err != nil || len(micros) > maxMicros {
		return db.Position{}, false
	}
	at := time.UnixMicro(int64(n)).UTC()
	if !named {
		return db.Position{At: at, ID: id}, memory.IsID(id)
	}
	name, err := base64.RawURLEncoding.DecodeString(id)
	if err != nil || len(name) == 0 {
		return db.Position{}, false
	}
	return db.Position{At: at, ID: printable(string(name))}, true
}

// printable returns a name without what no store can hold.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
}
