package frame

import (
	"encoding/json"
	"math"
	"net/url"
	"strconv"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/internal/memory/filter"
)

// BodyOwner returns the user that the body names.
func (r *Request) BodyOwner(userID string) memory.Owner { return r.Owner("user_id", r.Key, userID) }

// QueryOwner returns the user that the query names.
func (r *Request) QueryOwner() memory.Owner {
	return r.Owner("query.user_id", r.Key, r.Query.Get("user_id"))
}

// PathUser returns the user that the path names.
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

// PathValue is a path parameter, unescaped.
func (r *Request) PathValue(name string) string {
	value := r.Param(name)
	if r.Request().URL.RawPath != "" { // Echo matched the escaped path
		if plain, err := url.PathUnescape(value); err == nil {
			return plain
		}
	}
	return value
}

// DefaultPage is the number of rows of a page if the request names no limit.
const DefaultPage = 50

// Limit reads the query parameter limit.
func (r *Request) Limit() int { return r.QueryInteger("limit", DefaultPage) }

// QueryInteger reads a query parameter whose limits openapi.yaml states.
func (r *Request) QueryInteger(name string, absent int) int {
	text := r.Query.Get(name)
	if text == "" {
		return absent
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		r.Note("query."+name, "is not written as a plain integer")
	}
	return n
}
