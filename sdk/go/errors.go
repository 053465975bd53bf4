package hippocampus

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"hippocampus/sdk/go/api"
)

// Kind classes an error by what the caller can do about it. It is an error, so
// that errors.Is(err, KindNotFound) finds the kind of an [*Error].
type Kind string

// The kinds of error. The last three are the client's own; the server also reports
// KindBadAnswer, for an unusable answer of a model.
const (
	KindInvalid      Kind = "invalid"      // correct the request: Errors names the fields
	KindUnauthorized Kind = "unauthorized" // no key, or an unknown or revoked one
	KindForbidden    Kind = "forbidden"    // the key's role or user does not allow this
	KindNotFound     Kind = "not_found"    // it does not exist in this app
	KindConflict     Kind = "conflict"     // the state of the resource does not allow this
	KindTooLarge     Kind = "too_large"    // the body is over its limit
	KindTooFast      Kind = "too_fast"     // slow down: RetryAfter states for how long
	KindBusy         Kind = "busy"         // the server has enough to do for now
	KindUnavailable  Kind = "unavailable"  // a part of the server is unavailable for now
	KindNotTried     Kind = "not_tried"    // an item of several, after one that was unavailable: send it again
	KindInternal     Kind = "internal"     // a defect of the server: RequestID finds it in its log
	KindUnreachable  Kind = "unreachable"  // there was no connection, or it was cut
	KindTimeout      Kind = "timeout"      // there was no answer in time
	KindBadAnswer    Kind = "bad_answer"   // the answer is not what openapi.yaml states
)

func (k Kind) Error() string { return "hippocampus: " + string(k) }

// Error is why a request failed after its last attempt.
type Error struct {
	Kind       Kind
	Status     int           // of the HTTP answer; 0 without an answer
	Detail     string        // what happened and what to do, for people
	Errors     []FieldError  // what is wrong with which field, with KindInvalid
	RetryAfter time.Duration // as the server states it; 0 where it does not
	RequestID  string        // finds the request in the server's log
	Err        error         // the cause, if there is no readable answer

	states bool // the answer has a Retry-After, which may be 0
}

func (e *Error) Error() string {
	text := e.Kind.Error()
	if e.Status != 0 {
		text += fmt.Sprintf(" (%d)", e.Status)
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	for _, field := range e.Errors {
		text += fmt.Sprintf("; %s %s", field.Path, field.Message)
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the kind of the error.
func (e *Error) Is(target error) bool {
	kind, ok := target.(Kind)
	return ok && kind == e.Kind
}

const problemType = "urn:hippocampus:problem:"

// problem reads the error of an answer with a status from 300 on.
func problem(resp *http.Response, body []byte) *Error {
	e := &Error{Kind: kindOf(resp.StatusCode), Status: resp.StatusCode, RequestID: resp.Header.Get("X-Request-Id")}
	e.RetryAfter, e.states = retryAfter(resp.Header.Get("Retry-After"))
	if resp.StatusCode < http.StatusBadRequest {
		e.Detail = fmt.Sprintf("the server redirects to %s: give that address", resp.Header.Get("Location"))
		return e
	}
	var p api.Problem
	if json.Unmarshal(body, &p) != nil {
		return e
	}
	kind, ours := strings.CutPrefix(p.Type, problemType)
	if !ours {
		return e
	}
	e.Kind, e.Errors = Kind(kind), p.Errors
	if p.Detail != nil {
		e.Detail = *p.Detail
	}
	if p.RequestID != nil {
		e.RequestID = *p.RequestID
	}
	return e
}

// kindOf returns the kind of an answer that is no problem document.
func kindOf(status int) Kind {
	switch status {
	case http.StatusUnauthorized:
		return KindUnauthorized
	case http.StatusForbidden:
		return KindForbidden
	case http.StatusNotFound:
		return KindNotFound
	case http.StatusConflict:
		return KindConflict
	case http.StatusRequestEntityTooLarge:
		return KindTooLarge
	case http.StatusTooManyRequests:
		return KindTooFast
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return KindUnavailable
	}
	switch {
	case status >= http.StatusInternalServerError:
		return KindInternal
	case status < http.StatusBadRequest:
		return KindBadAnswer
	}
	return KindInvalid
}

// retryAfter reads a Retry-After header: seconds or a date (RFC 9110). It
// reports false without one that can be read.
func retryAfter(header string) (time.Duration, bool) {
	if seconds, err := strconv.ParseUint(header, 10, 32); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if date, err := http.ParseTime(header); err == nil {
		return max(0, time.Until(date)), true
	}
	return 0, false
}
