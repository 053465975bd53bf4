package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"hippocampus/internal/memory"
)

// decode reads a body that satisfies the contract into a request struct.
func decode[T any](r *request) (T, error) { return decodeJSON[T](r.body) }

func decodeJSON[T any](raw []byte) (T, error) {
	var body T
	err := json.Unmarshal(raw, &body)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong): // 1e1 is an integer to JSON Schema, not to Go
		return body, memory.Invalid(memory.Field{Path: wrong.Field, Message: "is not written as a plain " + wrong.Type.String()})
	case err != nil:
		return body, memory.Errorf(memory.KindInvalid, "reading the body: %w", err)
	}
	return body, nil
}

// checks collects what is wrong with a request beyond what openapi.yaml can
// say: limits in bytes, control characters, times, fields that contradict.
type checks struct {
	fields []memory.Field
}

// note records a complaint; "" is none.
func (c *checks) note(path, complaint string) {
	if complaint != "" {
		c.fields = append(c.fields, memory.Field{Path: path, Message: complaint})
	}
}

// err is nil where nothing was wrong.
func (c *checks) err() error {
	if len(c.fields) == 0 {
		return nil
	}
	return memory.Invalid(c.fields...)
}

// owner is the user of the key's app whom a request speaks of.
func (c *checks) owner(path string, key memory.Key, userID string) memory.Owner {
	c.note(path, memory.CheckID(userID, false))
	return memory.Owner{AppID: key.AppID, UserID: userID}
}

// places checks the optional ids that most requests share.
func (c *checks) places(prefix, agentID, conversationID string) {
	c.note(prefix+"agent_id", memory.CheckID(agentID, true))
	c.note(prefix+"conversation_id", memory.CheckID(conversationID, true))
}

// The times that are accepted: the range that every store keeps exactly.
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

// memoryID reads the id of a memory from the path. What cannot be one is the
// id of no memory, unless no id may look so at all.
func memoryID(r *request) (string, error) {
	id := r.param("id")
	if err := checkPathID(id); err != nil {
		return "", err
	}
	if !memory.IsID(id) {
		return "", memory.Errorf(memory.KindNotFound, "there is no memory with this id")
	}
	return id, nil
}

func checkPathID(id string) error {
	var c checks
	c.note("path.id", memory.CheckID(id, false))
	return c.err()
}

// orDefault is the value that a pointer holds, or the default for nil.
func orDefault[T any](value *T, otherwise T) T {
	if value == nil {
		return otherwise
	}
	return *value
}

// atLeastEmpty makes a nil slice an empty one, which JSON shows as [].
func atLeastEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
