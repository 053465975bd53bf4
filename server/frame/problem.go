package frame

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"hippocampus/internal/memory"
)

// Problem is an RFC 9457 problem document.
type Problem struct {
	Type      string         `json:"type"` // "urn:hippocampus:problem:" and the kind
	Title     string         `json:"title"`
	Status    int            `json:"status"`
	Detail    string         `json:"detail,omitempty"`
	Instance  string         `json:"instance,omitempty"`
	RequestID string         `json:"request_id,omitempty"`
	Errors    []memory.Field `json:"errors,omitempty"` // at most memory.MaxFields
}

const (
	problemType = "urn:hippocampus:problem:"
	problemMIME = "application/problem+json"
	statusGone  = 499 // the client has left; only logs and metrics show it
	retryAfter  = 5 * time.Second
)

// Kind returns the kind of error that the problem is of.
func (p Problem) Kind() memory.Kind { return memory.Kind(strings.TrimPrefix(p.Type, problemType)) }

// table holds the problem of each kind of error. If detail is empty, the text of
// the error is the detail. Otherwise the error concerns the server's internals,
// and only the log has its text, apart from what any caller may read (memory.DetailOf).
var table = map[memory.Kind]struct {
	status        int
	title, detail string
}{
	memory.KindInvalid:      {http.StatusBadRequest, "The request is not valid", ""},
	memory.KindUnauthorized: {http.StatusUnauthorized, "A valid API key is needed", ""},
	memory.KindForbidden:    {http.StatusForbidden, "The API key does not allow this", ""},
	memory.KindNotFound:     {http.StatusNotFound, "Not found", ""},
	memory.KindConflict:     {http.StatusConflict, "The present state does not allow this", ""},
	memory.KindTooLarge:     {http.StatusRequestEntityTooLarge, "The body is too large", ""},
	memory.KindTooFast:      {http.StatusTooManyRequests, "Too many requests", ""},
	memory.KindBusy:         {http.StatusServiceUnavailable, "The server is busy", ""},
	memory.KindUnavailable: {http.StatusServiceUnavailable, "A part of the server is unavailable",
		"A part of the server that this request needs is unavailable. Repeat the request after Retry-After seconds."},
	memory.KindNotTried: {http.StatusServiceUnavailable, "Not tried", ""},
	memory.KindBadAnswer: {http.StatusBadGateway, "A model gave an unusable answer",
		"A model that this request needs gave an unusable answer. Nothing was changed. Repeat the request."},
	memory.KindInternal: {http.StatusInternalServerError, "Internal error",
		"The server failed because of a defect. Its log has the cause under this request id."},
}

// ProblemOf returns the problem of an error, without instance and request id.
func ProblemOf(err error) Problem {
	var httpError *echo.HTTPError
	var known *memory.Error
	switch {
	case errors.As(err, &known):
	case errors.As(err, &httpError):
		return httpProblem(httpError)
	case errors.Is(err, context.DeadlineExceeded):
		err = memory.Errorf(memory.KindUnavailable, "the request took too long: %w", err)
	}
	if limited := memory.Limited(err); limited != nil && memory.IsKind(err, memory.KindUnavailable) {
		err = tooFast(limited)
	}
	kind := memory.KindOf(err)
	row := table[kind]
	p := Problem{Type: problemType + string(kind), Title: row.title, Status: row.status, Detail: row.detail}
	switch {
	case p.Detail != "":
		if detail := memory.DetailOf(err); detail != "" {
			p.Detail += " The reason: " + detail + "."
		}
	case known != nil && len(known.Fields) > 0:
		p.Detail = known.Err.Error()
		p.Errors = known.Fields
	default:
		p.Detail = err.Error()
	}
	return p
}

// tooFast is the error of a request that needs what a quota of the app has refused, such as a model.
func tooFast(e *memory.Error) error {
	return &memory.Error{Kind: memory.KindTooFast, Err: e.Err, RetryAfter: e.RetryAfter, Limit: e.Limit}
}

// ProblemPointer is ProblemOf for the field of a body.
func ProblemPointer(err error) *Problem {
	p := ProblemOf(err)
	return &p
}

// httpProblem returns the problem of an error of HTTP itself: route, method, media type.
func httpProblem(err *echo.HTTPError) Problem {
	title := http.StatusText(err.Code)
	p := Problem{
		Type:  problemType + strings.ReplaceAll(strings.ToLower(title), " ", "_"),
		Title: title, Status: err.Code, Detail: fmt.Sprint(err.Message),
	}
	switch err.Code {
	case http.StatusNotFound:
		p.Detail = "There is no such route: /openapi.yaml lists them."
	case http.StatusMethodNotAllowed:
		p.Detail = "This route has other methods: see the Allow header, or /openapi.yaml."
	}
	return p
}

// StatusError returns an error with a status of HTTP and the detail of its problem.
func StatusError(status int, detail string) error { return echo.NewHTTPError(status, detail) }

// isNoRoute reports whether an error says that a method and path are no route.
func isNoRoute(err error) bool {
	var httpError *echo.HTTPError
	return errors.As(err, &httpError) &&
		(httpError.Code == http.StatusNotFound || httpError.Code == http.StatusMethodNotAllowed)
}

// isRoute reports whether a path is that of a route.
func (s *Server) isRoute(path string) bool {
	return slices.ContainsFunc(s.echo.Routes(), func(r *echo.Route) bool { return r.Path == path })
}

// fail answers a request with an error.
func (s *Server) fail(c echo.Context, err error) {
	c.Set(errorKey, err)
	s.CountRefused(err)
	if c.Response().Committed {
		return
	}
	if c.Request().Context().Err() != nil {
		_ = c.NoContent(statusGone) // the client has left
		return
	}
	discard(c.Request())
	p := ProblemOf(err)
	if isNoRoute(err) && s.instead != nil {
		if instead := s.instead(c.Request().URL.Path, s.isRoute); instead != "" {
			p.Detail = "There is no such route: " + instead + "."
		}
	}
	p.Instance = c.Request().URL.EscapedPath()
	p.RequestID = c.Response().Header().Get(echo.HeaderXRequestID)
	header := c.Response().Header()
	switch p.Status {
	case http.StatusUnauthorized:
		header.Set(echo.HeaderWWWAuthenticate, `Bearer realm="hippocampus"`)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		header.Set(echo.HeaderRetryAfter, retrySeconds(err))
	}
	if write, ok := c.Get(failKey).(func(http.ResponseWriter, int, Problem)); ok {
		write(c.Response(), p.Status, p)
		return
	}
	header.Set(echo.HeaderContentType, problemMIME)
	_ = c.JSON(p.Status, p) // fails only if the client has left
}

// CountRefused counts an error by the bound that it names, if it names one.
func (s *Server) CountRefused(err error) {
	if limit := memory.LimitOf(err); limit != "" {
		s.refused.WithLabelValues(limit).Inc()
	}
}

// retrySeconds is the value of a Retry-After header: whole seconds, 1 or more.
func retrySeconds(err error) string {
	wait := retryAfter
	var e *memory.Error
	if limited := memory.Limited(err); limited != nil {
		err = limited
	}
	if errors.As(err, &e) && e.RetryAfter > 0 {
		wait = e.RetryAfter
	}
	return strconv.Itoa(int(math.Ceil(wait.Seconds())))
}

// problems answers errors with problem documents, so that the middlewares around
// it see the status that the client sees.
func (s *Server) problems(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := next(c); err != nil {
			s.fail(c, err)
		}
		return nil
	}
}
