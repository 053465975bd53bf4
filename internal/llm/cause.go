package llm

import (
	"context"
	"errors"
	"net/http"

	"hippocampus/internal/memory"
)

// Cause is why a call has no answer, in a word that labels a metric.
type Cause string

// The causes.
const (
	CauseRequest     Cause = "request"     // the endpoint refuses the request, such as for a field or its length
	CauseKey         Cause = "key"         // it refuses the key
	CauseLimit       Cause = "limit"       // it limits the rate
	CauseUnavailable Cause = "unavailable" // it is unavailable, slow, or was not asked since it has failed before
	CauseAnswer      Cause = "answer"      // its answer does not have the form of the API
	CauseCaller      Cause = "caller"      // the caller stopped waiting
	CauseQuota       Cause = "quota"       // it was not asked, since the app has used up its quota of tokens
)

// caused is an error with its cause.
type caused struct {
	error
	cause  Cause
	length bool // the endpoint refuses the request for its length
}

func (c caused) Unwrap() error { return c.error }

// cause returns the cause of an endpoint's failure.
func (f *failure) cause() Cause {
	switch {
	case f.concernsRequest():
		return CauseRequest
	case f.refusesKey():
		return CauseKey
	case f.status == http.StatusTooManyRequests:
		return CauseLimit
	}
	return CauseUnavailable
}

// CauseOf returns why a call failed with err.
func CauseOf(err error) Cause {
	var c caused
	switch {
	case errors.As(err, &c):
		return c.cause
	case memory.LimitOf(err) != "":
		return CauseQuota
	case memory.IsKind(err, memory.KindBadAnswer):
		return CauseAnswer
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return CauseCaller
	}
	return CauseUnavailable
}

// concernsLength reports whether err is the error of a request that the endpoint refused for its length.
func concernsLength(err error) bool {
	var c caused
	return errors.As(err, &c) && c.length
}
