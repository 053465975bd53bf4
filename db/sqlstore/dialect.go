package sqlstore

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"sync"
	"time"

	"hippocampus/internal/memory"
)

// Dialect is the SQL of one of the databases.
type Dialect int

// The dialects.
const (
	Postgres Dialect = iota + 1
	SQLite
)

// How the text of a query for a database is made from the text in this package.
var (
	alternatives = regexp.MustCompile(`\{([^{}|]*)\|([^{}]*)\}`) // {of Postgres|of SQLite}
	anyOfList    = regexp.MustCompile(`= ANY\((\$\d+)(::\w+\[\])?\)`)
	cast         = regexp.MustCompile(`::\w+(\[\])?`)
	parameter    = regexp.MustCompile(`\$(\d+)`)
)

var texts [SQLite + 1]sync.Map // of each dialect, by the text in this package

// text translates a query.
func (d Dialect) text(query string) string {
	if text, ok := texts[d].Load(query); ok {
		return text.(string)
	}
	text := query
	if d == Postgres {
		text = alternatives.ReplaceAllString(text, "${1}")
	} else {
		text = alternatives.ReplaceAllString(text, "${2}")
		text = anyOfList.ReplaceAllString(text, "IN (SELECT value FROM json_each(${1}))")
		text = cast.ReplaceAllString(text, "") // SQLite's columns convert what they store
		text = parameter.ReplaceAllString(text, "?${1}")
	}
	texts[d].Store(query, text)
	return text
}

// args translates the parameters of a query in place. Postgres' driver knows
// every type; in SQLite a time is its microseconds since 1970, and a list or a
// JSON value is JSON text.
func (d Dialect) args(values []any) []any {
	if d == Postgres {
		return values
	}
	for i, value := range values {
		switch v := value.(type) {
		case time.Time:
			values[i] = v.UnixMicro()
		case *time.Time:
			values[i] = nil
			if v != nil {
				values[i] = v.UnixMicro()
			}
		case json.RawMessage:
			values[i] = nil
			if v != nil {
				values[i] = string(v)
			}
		case []byte, driver.Valuer, nil:
		default:
			if list := reflect.ValueOf(v); list.Kind() == reflect.Slice {
				values[i] = listText(list)
			}
		}
	}
	return values
}

func listText(list reflect.Value) string {
	if list.Len() == 0 {
		return "[]"
	}
	text, _ := json.Marshal(list.Interface()) // strings and numbers only: cannot fail
	return string(text)
}

// dests translates the destinations of a row's columns in place.
func (d Dialect) dests(pointers []any) []any {
	for i, pointer := range pointers {
		switch p := pointer.(type) {
		case *time.Time:
			pointers[i] = (*Instant)(p)
		case *json.RawMessage:
			pointers[i] = (*[]byte)(p)
		case *[]byte, sql.Scanner:
		default:
			if d == SQLite && reflect.TypeOf(p).Elem().Kind() == reflect.Slice {
				pointers[i] = jsonList{p}
			}
		}
	}
	return pointers
}

// Instant is a time column. Null is the zero time.
type Instant time.Time

// Scan reads the column of either database.
func (i *Instant) Scan(column any) error {
	switch v := column.(type) {
	case nil:
		*i = Instant{}
	case time.Time:
		*i = Instant(v.UTC())
	case int64:
		*i = Instant(time.UnixMicro(v).UTC())
	default:
		return fmt.Errorf("a time column holds a %T", column)
	}
	return nil
}

// Value is the parameter for the column of SQLite: microseconds since 1970.
func (i Instant) Value() (driver.Value, error) {
	if t := time.Time(i); !t.IsZero() {
		return t.UnixMicro(), nil
	}
	return nil, nil
}

// ID is an id column. Null is the empty id.
type ID string

// Scan reads the column.
func (id *ID) Scan(column any) error {
	switch v := column.(type) {
	case nil:
		*id = ""
	case string:
		*id = ID(v)
	default:
		return fmt.Errorf("an id column holds a %T", column)
	}
	return nil
}

// jsonList is a list column of SQLite: a JSON array. Null is nil.
type jsonList struct{ to any }

// Scan reads the column.
func (l jsonList) Scan(column any) error {
	if column == nil {
		column = "null"
	}
	text, ok := column.(string)
	if !ok {
		return fmt.Errorf("a list column holds a %T", column)
	}
	if err := json.Unmarshal([]byte(text), l.to); err != nil {
		return fmt.Errorf("read a list column: %w", err)
	}
	return nil
}

// null is the parameter for a time that is stored as null if it is zero.
func null(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// nullID is the parameter for an id that is stored as null if it is empty.
func nullID(id string) *string {
	if id == "" {
		return nil
	}
	return &id
}

// validIDs are the ids that rows can have.
func validIDs(ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !memory.IsID(id) })
}

// jsonArray is a column that holds a JSON array of objects. An empty one is nil.
type jsonArray[T any] []T

// Scan reads the column of either database.
func (a *jsonArray[T]) Scan(column any) error {
	var raw []byte
	switch v := column.(type) {
	case string:
		raw = []byte(v)
	case []byte:
		raw = v
	default:
		return fmt.Errorf("a column of objects holds a %T", column)
	}
	err := json.Unmarshal(raw, (*[]T)(a))
	if len(*a) == 0 {
		*a = nil
	}
	return err
}

// arrayJSON is the parameter for a column that jsonArray reads.
func arrayJSON[T any](items []T) string {
	b, _ := json.Marshal(append([]T{}, items...)) // strings, numbers and times: cannot fail
	return string(b)
}
