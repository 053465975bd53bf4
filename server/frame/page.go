package frame

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// The complaints about a cursor that the server has not made, and about one that it has made for another list.
const (
	InvalidCursor = "is not a cursor of this API: send the next_cursor of the previous page, unchanged"
	ForeignCursor = "is a cursor of another list: send the next_cursor of the previous page of this one"
)

// List makes the handler of a list that is read page by page:
//
//	cursor, limit and other parameters -> filter -> find -> {"<name>": [...], "next_cursor": "..."}
type List[Filter, Row, Body any] struct {
	Name     string // of the field that holds the rows
	Named    bool   // whether a row is identified by a name that a client chose, and not by a UUID
	Filter   func(r *Request, p Page) Filter
	Find     func(ctx context.Context, f Filter) ([]Row, error)
	Body     func(Row) Body
	Position func(Row) db.Position // by which the rows are ordered

	// End returns where a page ends that may compare at most examine rows, and limits the filter to this page. Optional.
	End func(ctx context.Context, f *Filter, examine int) (*db.Position, error)
}

func (l List[Filter, Row, Body]) Handle(ctx context.Context, r *Request) (any, error) {
	p := Page{Limit: r.Limit(), Before: r.Cursor(l.Named)}
	examine := r.QueryInteger("examine", 0)
	filter := l.Filter(r, p)
	err := r.Err()
	if err != nil {
		return nil, err
	}
	var end *db.Position
	if examine > 0 && l.End != nil {
		if end, err = l.End(ctx, &filter, examine); err != nil {
			return nil, err
		}
	}
	rows, err := l.Find(ctx, filter)
	if err != nil {
		return nil, err
	}
	body := pageBody{name: l.Name, rows: BodiesOf(rows, l.Body)}
	switch n := len(rows); {
	case n > 0 && n >= p.Limit:
		body.next = r.NextCursor(l.Position(rows[n-1]), l.Named)
	case end != nil:
		body.next = r.NextCursor(*end, l.Named)
	}
	return body, nil
}

// Page is the part of a list that a request asks for.
type Page struct {
	Limit  int
	Before *db.Position // nil: from the newest
}

// After returns the name after which a list that is ordered by names continues; "" at its beginning.
func (p Page) After() string {
	if p.Before == nil {
		return ""
	}
	return p.Before.ID
}

// NamePosition is the position of a row in a list that is ordered by names.
func NamePosition(name string) db.Position { return db.Position{At: time.UnixMicro(0), ID: name} }

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

// BodiesOf converts each item of a list. The result is never nil, so that its JSON is [].
func BodiesOf[T, Body any](items []T, body func(T) Body) []Body {
	bodies := make([]Body, len(items))
	for i, item := range items {
		bodies[i] = body(item)
	}
	return bodies
}

// Cursor reads the query parameter cursor; nil if it is absent.
func (r *Request) Cursor(named bool) *db.Position {
	text := r.Query.Get("cursor")
	if text == "" {
		return nil
	}
	position, fault := ParseCursor(r.Path(), text, named)
	r.Note("query.cursor", fault)
	return &position
}

// NextCursor returns the position of the last row of a page as a cursor of the request's route.
func (r *Request) NextCursor(p db.Position, named bool) string {
	return FormatCursor(r.Path(), p, named)
}

// FormatCursor returns a position in the list of a route as a cursor: microseconds, the id, and a hash of the route,
// with dots between them. A name is written in base64url. openapi.yaml states this form.
func FormatCursor(route string, p db.Position, named bool) string {
	id := p.ID
	if named {
		id = base64.RawURLEncoding.EncodeToString([]byte(id))
	}
	return fmt.Sprintf("%d.%s.%s", p.At.UnixMicro(), id, routeHash(route))
}

func routeHash(route string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(route)) // cannot fail
	return fmt.Sprintf("%08x", h.Sum32())
}

var hashForm = regexp.MustCompile(`^[0-9a-f]{8}$`)

// maxMicros is the number of digits of a time in microseconds.
const maxMicros = 16

// ParseCursor reads a position in the list of a route. fault is what is wrong with the text, or empty.
func ParseCursor(route, text string, named bool) (p db.Position, fault string) {
	micros, rest, _ := strings.Cut(text, ".")
	id, hash, _ := strings.Cut(rest, ".")
	n, err := strconv.ParseUint(micros, 10, 63)
	if err != nil || len(micros) > maxMicros || !hashForm.MatchString(hash) {
		return db.Position{}, InvalidCursor
	}
	p = db.Position{At: time.UnixMicro(int64(n)).UTC(), ID: id}
	if named {
		name, err := base64.RawURLEncoding.DecodeString(id)
		if err != nil || len(name) == 0 {
			return db.Position{}, InvalidCursor
		}
		p.ID = printable(string(name))
	} else if !memory.IsID(id) {
		return db.Position{}, InvalidCursor
	}
	if hash != routeHash(route) {
		return db.Position{}, ForeignCursor
	}
	return p, ""
}

// printable returns a name without characters that no store can hold.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
}
