package frame

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/internal/memory/filter"
)

// Decode reads a JSON text that satisfies the contract.
func Decode[T any](raw []byte) (T, error) {
	var body T
	err := json.Unmarshal(raw, &body)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong): // JSON Schema accepts 1e1 as an integer, Go does not
		return body, memory.Invalid(memory.Field{
			Path: wrong.Field, Message: "is not written as a plain " + wrong.Type.String(),
		})
	case err != nil:
		return body, memory.Errorf(memory.KindInvalid, "reading the body: %w", err)
	}
	return body, nil
}

// Checks collects what is wrong with a request and cannot be stated in
// openapi.yaml: limits in bytes, control characters, times, contradictions.
type Checks struct{ faults memory.Fields }

// Note records a complaint unless it is empty.
func (c *Checks) Note(path, complaint string) { c.faults.Add(path, complaint) }

// NoteAll records faults.
func (c *Checks) NoteAll(faults []memory.Field) { c.faults = append(c.faults, faults...) }

// Err returns an error with all complaints, or nil without any.
func (c *Checks) Err() error { return c.faults.Err() }

// Owner is a user of the key's app.
func (c *Checks) Owner(path string, key memory.Key, userID string) memory.Owner {
	c.Note(path, memory.CheckID(userID, false))
	return memory.Owner{AppID: key.AppID, UserID: userID}
}

// OptionalIDs checks the optional ids that many requests have.
func (c *Checks) OptionalIDs(prefix, agentID, conversationID string) {
	c.Note(prefix+"agent_id", memory.CheckID(agentID, true))
	c.Note(prefix+"conversation_id", memory.CheckID(conversationID, true))
}

// The years that are accepted: the range that every store keeps exactly.
const firstYear, lastYear = 1970, 2200

// Time reads an RFC 3339 time; "" is the zero time.
func (c *Checks) Time(path, value string) time.Time {
	if value == "" {
		return time.Time{}
	}
	var t time.Time
	if err := t.UnmarshalText([]byte(value)); err != nil {
		c.Note(path, "is not a date-time as in RFC 3339, such as 2026-01-31T08:00:00Z")
		return time.Time{}
	}
	t = memory.Instant(t)
	if t.Year() < firstYear || t.Year() > lastYear {
		c.Note(path, fmt.Sprintf("is not in the years %d to %d", firstYear, lastYear))
	}
	return t
}

// ZoneOf returns the zone of an RFC 3339 time with an offset; nil for an offset of 0 or another text.
func ZoneOf(value string) *time.Location {
	t, err := time.Parse(time.RFC3339, value)
	if err != nil {
		return nil
	}
	if _, offset := t.Zone(); offset == 0 {
		return nil
	}
	return t.Location()
}

// Window reads the half-open interval [since, until).
func (c *Checks) Window(prefix, since, until string) (from, to time.Time) {
	from, to = c.Time(prefix+"since", since), c.Time(prefix+"until", until)
	if !from.IsZero() && !to.IsZero() && !from.Before(to) {
		c.Note(prefix+"until", "is not after since")
	}
	return from, to
}

// Metadata checks a metadata object and returns it without insignificant space.
func (c *Checks) Metadata(path string, raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		c.Note(path, "is not JSON")
		return nil
	}
	c.Note(path, memory.CheckMetadata(compact.Bytes()))
	return compact.Bytes()
}

// Where reads a filter of memories; nil if it is absent.
func (c *Checks) Where(path string, raw json.RawMessage) *filter.Filter {
	if raw == nil {
		return nil
	}
	where, fault := filter.Parse(raw)
	if fault != nil {
		c.Note(joinPath(path, fault.Path), fault.Message)
	}
	return where
}

// BodyOwner is the user whom the body names.
func (r *Request) BodyOwner(userID string) memory.Owner { return r.Owner("user_id", r.Key, userID) }

// QueryOwner is the user whom the query names.
func (r *Request) QueryOwner() memory.Owner {
	return r.Owner("query.user_id", r.Key, r.Query.Get("user_id"))
}

// PathUser is the user whom the path names.
func (r *Request) PathUser() (memory.Owner, error) {
	owner := r.Owner("path.user_id", r.Key, r.PathValue("user_id"))
	return owner, r.Err()
}

// QueryID reads an optional id from the query.
func (r *Request) QueryID(name string) string {
	id := r.Query.Get(name)
	r.Note("query."+name, memory.CheckID(id, true))
	return id
}

// QueryTime reads an optional time from the query.
func (r *Request) QueryTime(name string) time.Time {
	return r.Time("query."+name, r.Query.Get(name))
}

// QueryWhere reads the query parameter filter, which is JSON; nil if it is absent.
func (r *Request) QueryWhere() *filter.Filter {
	if !r.Query.Has("filter") {
		return nil
	}
	const path = "query.filter"
	text := r.Query.Get("filter")
	if _, fault := parseObject([]byte(text)); fault != nil {
		if fault.Path == "body" {
			fault.Path = ""
		}
		r.Note(joinPath(path, fault.Path), fault.Message)
		return nil
	}
	return r.Where(path, json.RawMessage(text))
}

// QueryNumber reads an optional whole number above 0 from the query.
func (r *Request) QueryNumber(name, complaint string) int64 {
	text := r.Query.Get(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		r.Note("query."+name, complaint)
	}
	return n
}

// QueryFloat reads a query parameter whose limits openapi.yaml states; 0 if it is absent.
func (r *Request) QueryFloat(name string) float64 {
	text := r.Query.Get(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) {
		r.Note("query."+name, "is not written as a plain number")
	}
	return n
}

// PathID reads the parameter id of the path.
func (r *Request) PathID() (string, error) {
	id := r.PathValue("id")
	r.Note("path.id", memory.CheckID(id, false))
	return id, r.Err()
}

// MemoryID reads the id of a memory from the path. A well-formed id that is not
// a UUID is KindNotFound, since no memory can have it.
func (r *Request) MemoryID() (string, error) {
	id, err := r.PathID()
	if err == nil && !memory.IsID(id) {
		err = memory.Errorf(memory.KindNotFound, "there is no memory with this id")
	}
	return id, err
}

// NamesOf gives the values of a query parameter their type; openapi.yaml admits
// only known values.
func NamesOf[T ~string](values []string) []T {
	var names []T
	for _, value := range values {
		names = append(names, T(value))
	}
	return names
}

// OrDefault is the value that a pointer holds, or the default for nil.
func OrDefault[T any](value *T, otherwise T) T {
	if value == nil {
		return otherwise
	}
	return *value
}

// NotNil makes a nil slice an empty one, whose JSON is [].
func NotNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
