package api

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
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
	Errors    []memory.Field `json:"errors,omitempty"` // at most maxFieldErrors
}

const (
	problemType    = "urn:hippocampus:problem:"
	problemMIME    = "application/problem+json"
	maxFieldErrors = 100
	statusGone     = 499 // the client left; only logs and metrics see it
	retryAfter     = 5 * time.Second
)

// table says how each kind of error is told. Where detail is empty the error's
// own text is the detail; a kind that speaks of our inside says a fixed
// sentence instead, and its cause is in the log under the request id.
var table = map[memory.Kind]struct {
	status        int
	title, detail string
}{
	memory.KindInvalid:      {http.StatusBadRequest, "The request is not valid", ""},
	memory.KindUnauthorized: {http.StatusUnauthorized, "A valid API key is needed", ""},
	memory.KindForbidden:    {http.StatusForbidden, "The API key's role does not allow this", ""},
	memory.KindNotFound:     {http.StatusNotFound, "Not found", ""},
	memory.KindConflict:     {http.StatusConflict, "The present state does not allow this", ""},
	memory.KindTooLarge:     {http.StatusRequestEntityTooLarge, "The body is too large", ""},
	memory.KindTooFast:      {http.StatusTooManyRequests, "Too many requests", ""},
	memory.KindUnavailable: {http.StatusServiceUnavailable, "A part of the server is away",
		"A part of the server that this request needs is away for now. Repeat the request after Retry-After seconds."},
	memory.KindBadAnswer: {http.StatusBadGateway, "A model gave a bad answer",
		"A model that this request needs answered what could not be used. Nothing was changed. Repeat the request."},
	memory.KindInternal: {http.StatusInternalServerError, "Internal error",
		"The server failed at this request through a fault of its own. Its log has the cause under this request id."},
}

// problemOf is how an error is told to a client, without instance and request id.
func problemOf(err error) Problem {
	var refused *echo.HTTPError
	var known *memory.Error
	switch {
	case errors.As(err, &known):
	case errors.As(err, &refused):
		return httpProblem(refused)
	case errors.Is(err, context.DeadlineExceeded):
		err = memory.Errorf(memory.KindUnavailable, "the request took too long: %w", err)
	}
	kind := memory.KindOf(err)
	row := table[kind]
	p := Problem{Type: problemType + string(kind), Title: row.title, Status: row.status, Detail: row.detail}
	if p.Detail == "" {
		p.Detail = err.Error()
		if known != nil && len(known.Fields) > 0 {
			p.Detail = known.Err.Error()
			p.Errors = known.Fields[:min(len(known.Fields), maxFieldErrors)]
		}
	}
	return p
}

// httpProblem tells what HTTP itself refuses: routes, methods, media types.
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

// fail answers a request with an error.
func (s *Server) fail(c echo.Context, err error) {
	c.Set(errorKey, err)
	if c.Response().Committed {
		return
	}
	if c.Request().Context().Err() != nil {
		_ = c.NoContent(statusGone) // nobody reads it
		return
	}
	p := problemOf(err)
	p.Instance = c.Request().URL.EscapedPath()
	p.RequestID = c.Response().Header().Get(echo.HeaderXRequestID)
	header := c.Response().Header()
	switch p.Status {
	case http.StatusUnauthorized:
		header.Set(echo.HeaderWWWAuthenticate, `Bearer realm="hippocampus"`)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		header.Set(echo.HeaderRetryAfter, retrySeconds(err))
	}
	header.Set(echo.HeaderContentType, problemMIME)
	_ = c.JSON(p.Status, p) // fails only where the client has left
}

// retrySeconds is the value of a Retry-After header: whole seconds, 1 or more.
func retrySeconds(err error) string {
	wait := retryAfter
	var e *memory.Error
	if errors.As(err, &e) && e.RetryAfter > 0 {
		wait = e.RetryAfter
	}
	return strconv.Itoa(int(math.Ceil(wait.Seconds())))
}

// problems turns what a handler returns into a problem document, so that the
// middlewares around it see the status that the client sees.
func (s *Server) problems(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := next(c); err != nil {
			s.fail(c, err)
		}
		return nil
	}
}
