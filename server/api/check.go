package api

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

// decode reads a JSON text that satisfies the contract.
func decode[T any](raw []byte) (T, error) {
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

// checks collects what is wrong with a request and cannot be stated in
// openapi.yaml: limits in bytes, control characters, times, contradictions.
type checks struct {
	fields []memory.Field
}

// note records a complaint unless it is empty.
func (c *checks) note(path, complaint string) {
	if complaint != "" {
		c.fields = append(c.fields, memory.Field{Path: path, Message: complaint})
	}
}

// noteAll records faults.
func (c *checks) noteAll(faults []memory.Field) { c.fields = append(c.fields, faults...) }

// err returns an error with all complaints, or nil without any.
func (c *checks) err() error {
	if len(c.fields) == 0 {
		return nil
	}
	return memory.Invalid(c.fields...)
}

// owner is a user of the key's app.
func (c *checks) owner(path string, key memory.Key, userID string) memory.Owner {
	c.note(path, memory.CheckID(userID, false))
	return memory.Owner{AppID: key.AppID, UserID: userID}
}

// optionalIDs checks the optional ids that many requests have.
func (c *checks) optionalIDs(prefix, agentID, conversationID string) {
	c.note(prefix+"agent_id", memory.CheckID(agentID, true))
	c.note(prefix+"conversation_id", memory.CheckID(conversationID, true))
}

// The years that are accepted: the range that every store keeps exactly.
const firstYear, lastYear = 1970, 2200

// time reads an RFC 3339 time; "" is the zero time.
func (c *checks) time(path, value string) time.Time {
	if value == "" {
		return time.Time{}
	}
	var t time.Time
	if err := t.UnmarshalText([]byte(value)); err != nil {
		c.note(path, "is not a date-time as in RFC 3339, such as 2026-01-31T08:00:00Z")
		return time.Time{}
	}
	t = memory.Instant(t)
	if t.Year() < firstYear || t.Year() > lastYear {
		c.note(path, fmt.Sprintf("is not in the years %d to %d", firstYear, lastYear))
	}
	return t
}

// zone returns the zone of an RFC 3339 time with an offset; nil for an offset of 0 or another text.
func zone(value string) *time.Location {
	t, err := time.Parse(time.RFC3339, value)
	if err != nil {
		return nil
	}
	if _, offset := t.Zone(); offset == 0 {
		return nil
	}
	return t.Location()
}

// window reads the half-open interval [since, until).
func (c *checks) window(prefix, since, until string) (from, to time.Time) {
	from, to = c.time(prefix+"since", since), c.time(prefix+"until", until)
	if !from.IsZero() && !to.IsZero() && !from.Before(to) {
		c.note(prefix+"until", "is not after since")
	}
	return from, to
}

// metadata checks a metadata object and returns it without insignificant space.
func (c *checks) metadata(path string, raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		c.note(path, "is not JSON")
		return nil
	}
	c.note(path, memory.CheckMetadata(compact.Bytes()))
	return compact.Bytes()
}

// where reads a filter of memories; nil if it is absent.
func (c *checks) where(path string, raw json.RawMessage) *filter.Filter {
	if raw == nil {
		return nil
	}
	where, fault := filter.Parse(raw)
	if fault != nil {
		c.note(joinPath(path, fault.Path), fault.Message)
	}
	return where
}

// bodyOwner is the user whom the body names.
func (r *request) bodyOwner(userID string) memory.Owner { return r.owner("user_id", r.key, userID) }

// queryOwner is the user whom the query names.
func (r *request) queryOwner() memory.Owner {
	return r.owner("query.user_id", r.key, r.query.Get("user_id"))
}

// pathUser is the user whom the path names.
func (r *request) pathUser() (memory.Owner, error) {
	owner := r.owner("path.user_id", r.key, r.param("user_id"))
	return owner, r.err()
}

// queryID reads an optional id from the query.
func (r *request) queryID(name string) string {
	id := r.query.Get(name)
	r.note("query."+name, memory.CheckID(id, true))
	return id
}

// queryTime reads an optional time from the query.
func (r *request) queryTime(name string) time.Time {
	return r.time("query."+name, r.query.Get(name))
}

// queryWhere reads the query parameter filter, which is JSON; nil if it is absent.
func (r *request) queryWhere() *filter.Filter {
	if !r.query.Has("filter") {
		return nil
	}
	const path = "query.filter"
	text := r.query.Get("filter")
	if _, fault := parseObject([]byte(text)); fault != nil {
		if fault.Path == "body" {
			fault.Path = ""
		}
		r.note(joinPath(path, fault.Path), fault.Message)
		return nil
	}
	return r.where(path, json.RawMessage(text))
}

// queryNumber reads an optional whole number above 0 from the query.
func (r *request) queryNumber(name, complaint string) int64 {
	text := r.query.Get(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		r.note("query."+name, complaint)
	}
	return n
}

// minImportance reads the query parameter min_importance; 0 if it is absent.
func (r *request) importance(name string) float64 {
	text := r.query.Get(name)
	if text == "" {
		return 0
	}
	importance, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(importance) {
		r.note("query."+name, "is not written as a plain number")
	}
	return importance
}

// pathID reads the parameter id of the path.
func (r *request) pathID() (string, error) {
	id := r.param("id")
	r.note("path.id", memory.CheckID(id, false))
	return id, r.err()
}

// memoryID reads the id of a memory from the path. A well-formed id that is not
// a UUID is KindNotFound, since no memory can have it.
func (r *request) memoryID() (string, error) {
	id, err := r.pathID()
	if err == nil && !memory.IsID(id) {
		err = memory.Errorf(memory.KindNotFound, "there is no memory with this id")
	}
	return id, err
}

// namesOf gives the values of a query parameter their type; openapi.yaml admits
// only known values.
func namesOf[T ~string](values []string) []T {
	var names []T
	for _, value := range values {
		names = append(names, T(value))
	}
	return names
}

// orDefault is the value that a pointer holds, or the default for nil.
func orDefault[T any](value *T, otherwise T) T {
	if value == nil {
		return otherwise
	}
	return *value
}

// notNil makes a nil slice an empty one, whose JSON is [].
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
