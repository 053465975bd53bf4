package frame

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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

// Within runs checks whose paths are relative to a field.
func (c *Checks) Within(field string, check func()) {
	before := len(c.faults)
	check()
	for i := range c.faults[before:] {
		fault := &c.faults[before+i]
		fault.Path = joinPath(field, fault.Path)
	}
}

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
	return c.timeOr(path, value, "is not a date-time as in RFC 3339, such as 2026-01-31T08:00:00Z")
}

// timeOr reads an RFC 3339 time; "" is the zero time. Another text gets the complaint.
func (c *Checks) timeOr(path, value, complaint string) time.Time {
	if value == "" {
		return time.Time{}
	}
	var t time.Time
	if err := t.UnmarshalText([]byte(value)); err != nil {
		c.Note(path, complaint)
		return time.Time{}
	}
	t = memory.Instant(t)
	if t.Year() < firstYear || t.Year() > lastYear {
		c.Note(path, fmt.Sprintf("is not in the years %d to %d", firstYear, lastYear))
	}
	return t
}

// Expiry reads the end of a shelf life: an RFC 3339 time, or a day such as 2026-05-03; "" means no end.
func (c *Checks) Expiry(path, value string) memory.Expiry {
	if memory.IsDay(value) {
		c.Time(path, value+"T00:00:00Z") // for the year
		return memory.Expiry{Day: value}
	}
	return memory.Expiry{At: c.timeOr(path, value,
		"is neither a day, such as 2026-01-31, nor a date-time as in RFC 3339, such as 2026-01-31T08:00:00Z")}
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

// NamesOf converts the values of a query parameter to T; openapi.yaml admits only known
// values.
func NamesOf[T ~string](values []string) []T {
	var names []T
	for _, value := range values {
		names = append(names, T(value))
	}
	return names
}

// OrDefault returns the value that a pointer points to, or the default for nil.
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
