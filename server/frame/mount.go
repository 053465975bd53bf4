package frame

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"hippocampus/internal/memory"
)

// Mount is a route of another protocol, or one whose handler sends requests to other routes:
//
//	request -> id, log, metrics -> key -> role -> rate -> openapi.yaml, if it describes the mount -> body limit
//	        -> handler -> requests to the API -> response
//
// Its handler reads and changes memories only by requests to the API as the same key, so that the rules of the
// API's routes are the rules of every protocol. Such a request does not count towards the key's rate again.
type Mount struct {
	Path string      // such as /mcp
	Role memory.Role // the weakest that may use it
	// Methods lists the methods that openapi.yaml describes; nil: the mount serves all, and is not described.
	Methods []string
	Open    func(v1 http.Handler) MountHandler

	// Document describes the protocol by OpenAPI. It is served at /openapi/ and DocumentName. Nil: there is no document.
	Document     []byte
	DocumentName string // such as mem0.yaml

	// KeyHeader is a header that holds the key instead of Authorization, which is then meant for another server.
	KeyHeader string
	// Fail writes errors in the protocol's own form: errors of the mount itself, such as a wrong key, and errors that the
	// handler returns. The headers WWW-Authenticate and Retry-After are set before. Nil: a problem document is written.
	Fail func(w http.ResponseWriter, status int, p Problem)
	// Streams says that neither the size of a request nor the time of an answer is bounded here.
	Streams bool
}

// MountHandler answers an admitted request, or returns an error that becomes a problem document like that of a route.
type MountHandler func(w http.ResponseWriter, r *http.Request) error

// AddMount adds the routes of a mount. It fails if openapi.yaml lacks one of its methods.
func (s *Server) AddMount(m Mount) error {
	handle := m.Open(s)
	if m.Methods == nil {
		s.echo.Any(m.Path, s.serveMount(m, handle, nil))
	}
	for _, method := range m.Methods {
		describe, err := s.contract.Operation(method, m.Path)
		if err != nil {
			return err
		}
		s.echo.Add(method, m.Path, s.serveMount(m, handle, describe))
	}
	return nil
}

// serveMount admits a request to a mount, checks it against its description, which may be nil, and calls the handler.
func (s *Server) serveMount(m Mount, handle MountHandler, describe func() (*Operation, error)) echo.HandlerFunc {
	return func(c echo.Context) error {
		ctx, cancel := context.WithTimeout(c.Request().Context(), s.limits.Work)
		defer cancel()
		if m.Fail != nil {
			c.Set(failKey, m.Fail)
		}
		r := &Request{Context: c, keepSecrets: s.keepSecrets}
		if err := s.admitTo(ctx, r, m); err != nil {
			return err
		}
		if describe != nil {
			op, err := describe()
			if err == nil {
				err = op.check(r, s.limits.Body)
			}
			if err != nil {
				return err
			}
		}
		if m.Streams {
			ctx = c.Request().Context()
			control := http.NewResponseController(c.Response())
			_, _ = control.SetReadDeadline(time.Time{}), control.SetWriteDeadline(time.Time{})
		} else {
			body, err := readLimited(r, s.limits.Body)
			if err == nil {
				err = checkMountValues(r, body)
			}
			if err != nil {
				return err
			}
			body, cleaned := CleanTexts(body) // a body that is not JSON stays unchanged
			ctx = context.WithValue(ctx, admittedRaw{}, cleaned)
			c.Request().Body = io.NopCloser(bytes.NewReader(body))
		}
		ctx = context.WithValue(ctx, admittedID{}, c.Response().Header().Get(echo.HeaderXRequestID))
		return handle(c.Response(), c.Request().WithContext(WithKey(ctx, r.Key)))
	}
}

// admitTo authenticates a request to a mount and checks its key.
func (s *Server) admitTo(ctx context.Context, r *Request, m Mount) error {
	sent := r.Request()
	if key := sent.Header.Get(m.KeyHeader); m.KeyHeader != "" && key != "" {
		admitted := sent.Clone(ctx)
		admitted.Header.Set("Authorization", "Bearer "+key)
		r.SetRequest(admitted)
		defer r.SetRequest(sent)
	}
	return s.admit(ctx, r, Route{Role: m.Role})
}
