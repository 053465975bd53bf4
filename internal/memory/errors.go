package memory

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind classes an error by what the caller can do about it. The API maps each
// kind to one HTTP status.
type Kind string

// The kinds of error.
const (
	KindInvalid      Kind = "invalid"      // the request is wrong: correct it
	KindUnauthorized Kind = "unauthorized" // no key, or an unknown or revoked one
	KindForbidden    Kind = "forbidden"    // the key's role does not allow this
	KindNotFound     Kind = "not_found"    // the resource does not exist in this app
	KindConflict     Kind = "conflict"     // the state of the resource does not allow this
	KindTooLarge     Kind = "too_large"    // the body is over its limit
	KindTooFast      Kind = "too_fast"     // slow down, see RetryAfter
	KindBusy         Kind = "busy"         // the server has enough to do for now, see RetryAfter
	KindUnavailable  Kind = "unavailable"  // a dependency is unavailable for now: try again
	KindNotTried     Kind = "not_tried"    // an item of several that was left out, since another one was unavailable
	KindBadAnswer    Kind = "bad_answer"   // the answer of a model cannot be used
	KindInternal     Kind = "internal"     // a defect in Hippocampus
)

// Kinds lists every kind.
var Kinds = []Kind{
	KindInvalid, KindUnauthorized, KindForbidden, KindNotFound, KindConflict,
	KindTooLarge, KindTooFast, KindBusy, KindUnavailable, KindNotTried, KindBadAnswer, KindInternal,
}

// Reason is why a part is unavailable, in a word that anyone may read: it names no
// address and no user.
type Reason string

// The reasons, if the part gives one.
const (
	ReasonCredentials Reason = "credentials" // the part refuses the user, password, token or key
	ReasonPrivileges  Reason = "privileges"  // the part accepts the credentials, but not the request
	ReasonTLS         Reason = "tls"         // TLS is missing, not expected, or a certificate is not accepted
	ReasonDiskFull    Reason = "disk_full"   // changes are refused for lack of room
	ReasonRequest     Reason = "request"     // the part refuses every request, such as for a field that it does not know
)

// Field is what is wrong with one field of a request.
type Field struct {
	Path    string `json:"path"` // "messages[3].content"
	Message string `json:"message"`
}

// Error is an error with a kind. Its text says what to do next.
type Error struct {
	Kind       Kind
	Err        error         // what happened, with its causes
	Fields     []Field       // with KindInvalid
	RetryAfter time.Duration // with KindTooFast, KindBusy and KindUnavailable; zero: unknown
	Reason     Reason        // with KindUnavailable; may be empty
	Detail     string        // what any caller may read of why a model gave no usable answer; may be empty
	Limit      string        // which bound refused the request, by its setting: "api.max_inflight"; may be empty
}

func (e *Error) Error() string {
	var text strings.Builder
	text.WriteString(e.Err.Error())
	separator := ": "
	for _, f := range e.Fields {
		text.WriteString(separator + f.Path + " " + f.Message)
		separator = "; "
	}
	return text.String()
}

func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an error of the given kind; %w works as in fmt.Errorf.
func Errorf(kind Kind, format string, args ...any) error {
	return &Error{Kind: kind, Err: fmt.Errorf(format, args...)}
}

// Fields collects what is wrong with the fields of a request.
type Fields []Field

// Add adds a field with a message, unless the message is empty.
func (f *Fields) Add(path, message string) {
	if message != "" {
		*f = append(*f, Field{Path: path, Message: message})
	}
}

// Err is the error of a request with these wrong fields; nil without wrong fields.
func (f Fields) Err() error {
	if len(f) == 0 {
		return nil
	}
	return Invalid(f...)
}

// MaxFields is the number of wrong fields that an error names at most.
const MaxFields = 100

// Invalid is the error of a request whose fields are wrong. It names the first MaxFields.
func Invalid(fields ...Field) error {
	return &Error{
		Kind: KindInvalid, Err: errors.New("the request is not valid"), Fields: fields[:min(len(fields), MaxFields)],
	}
}

// KindOf returns the kind of the outermost *Error in err's chain, KindInternal
// if there is no such error, and "" for nil.
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return KindInternal
}

// ReasonOf returns the first reason in err's chain, or "".
func ReasonOf(err error) Reason {
	for e := (*Error)(nil); errors.As(err, &e); err = e.Err {
		if e.Reason != "" {
			return e.Reason
		}
	}
	return ""
}

// DetailOf returns the first detail in err's chain, or "".
func DetailOf(err error) string {
	for e := (*Error)(nil); errors.As(err, &e); err = e.Err {
		if e.Detail != "" {
			return e.Detail
		}
	}
	return ""
}

// IsKind reports whether err is of the given kind.
func IsKind(err error, kind Kind) bool { return KindOf(err) == kind }

// LimitOf returns the bound that refused a request or a call, by the first error of err's chain that names one, or "".
func LimitOf(err error) string {
	if e := Limited(err); e != nil {
		return e.Limit
	}
	return ""
}

// Limited returns the first error of err's chain that names the bound that refused a request or a call, or nil.
func Limited(err error) *Error {
	for e := (*Error)(nil); errors.As(err, &e); err = e.Err {
		if e.Limit != "" {
			return e
		}
	}
	return nil
}
