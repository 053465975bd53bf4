package frame

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"hippocampus/internal/memory"
)

// Handler answers a request that satisfies openapi.yaml with a body that
// becomes JSON, one of WithStatus, or nil if it has written the response itself.
type Handler func(ctx context.Context, r *Request) (any, error)

// WithStatus returns the body of an answer with a status other than 200; body may be nil.
func WithStatus(status int, body any) any { return answer{status, body} }

// answer is a body with a status other than 200; the body may be nil.
type answer struct {
	status int
	body   any
}

// Request is what a handler works on.
type Request struct {
	echo.Context
	Checks            // what is wrong with the request
	Key    memory.Key // zero if the route needs no key
	Query  url.Values // checked against openapi.yaml
	Body   []byte     // one JSON object, checked against openapi.yaml; nil without a JSON body
	Items  ItemFaults // what is wrong with the items that the route refuses one by one

	keepSecrets bool
	Altered     Altered // in the body
}

// ItemFaults holds what is wrong with the items of a list, by index.
type ItemFaults map[int][]memory.Field

// Route is one entry of the API.
type Route struct {
	Method, Path string
	Role         memory.Role // the weakest that may use it; empty: it needs no key and reads nothing of the request
	ServerWide   bool        // it also serves keys that belong to no app
	BodyLimit    int64       // bytes; Unlimited: a stream, whose time is not limited either
	Handle       Handler
}

// Unlimited is the limit of a stream.
const Unlimited = -1

// Routes collects the routes of the features.
type Routes struct {
	Limits Limits
	List   []Route
}

// Add adds a route such as "GET /v1/turns/:id".
func (r *Routes) Add(pattern string, role memory.Role, h Handler) {
	r.AddLimited(pattern, role, r.Limits.Body, h)
}

// AddServerWide adds a route that also serves keys which belong to no app.
func (r *Routes) AddServerWide(pattern string, role memory.Role, h Handler) {
	r.Add(pattern, role, h)
	r.List[len(r.List)-1].ServerWide = true
}

// AddStream adds a route whose body or response is a stream.
func (r *Routes) AddStream(pattern string, role memory.Role, h Handler) {
	r.AddLimited(pattern, role, Unlimited, h)
}

// AddLimited adds a route with its own limit of the body.
func (r *Routes) AddLimited(pattern string, role memory.Role, bodyLimit int64, h Handler) {
	method, path, _ := strings.Cut(pattern, " ")
	r.List = append(r.List, Route{Method: method, Path: path, Role: role, BodyLimit: bodyLimit, Handle: h})
}

// AddRoutes adds routes. It fails if the contract does not describe one of them.
func (s *Server) AddRoutes(routes *Routes) error {
	for _, rt := range routes.List {
		op, err := s.contract.Operation(rt.Method, rt.Path)
		if err != nil {
			return err
		}
		s.echo.Add(rt.Method, rt.Path, s.serve(rt, op))
	}
	return nil
}

// serve checks the requests of a route, runs its handler and sends the answer.
func (s *Server) serve(rt Route, op *Operation) echo.HandlerFunc {
	var confine Confinement
	if s.confine != nil {
		confine = s.confine(rt, op)
	}
	return func(c echo.Context) error {
		ctx := c.Request().Context()
		if rt.BodyLimit != Unlimited {
			limited, cancel := context.WithTimeout(ctx, s.limits.Work)
			defer cancel()
			ctx = limited
		}
		r := &Request{Context: c, keepSecrets: s.keepSecrets}
		if rt.Role != "" {
			if err := s.admit(ctx, r, rt); err != nil {
				return err
			}
			if err := mayUse(r.Key, confine); err != nil {
				return err
			}
			if err := op.check(r, rt.BodyLimit); err != nil {
				return err
			}
			if r.Key.UserID != "" {
				if err := confine(ctx, r); err != nil {
					return err
				}
			}
		}
		if rt.BodyLimit == Unlimited {
			valid, end := s.whileValid(ctx, r)
			defer end()
			ctx = valid
		}
		body, err := rt.Handle(ctx, r)
		if err != nil || body == nil {
			return err
		}
		a, ok := body.(answer)
		switch {
		case !ok:
			return c.JSON(http.StatusOK, body)
		case a.body == nil:
			return c.NoContent(a.status)
		}
		return c.JSON(a.status, a.body)
	}
}

// WithBody makes a handler of one that takes the decoded body.
func WithBody[T any](h func(ctx context.Context, r *Request, body T) (any, error)) Handler {
	return func(ctx context.Context, r *Request) (any, error) {
		body, err := Decode[T](r.Body)
		if err != nil {
			return nil, err
		}
		return h(ctx, r, body)
	}
}

// Confinement refuses what goes beyond the user of a key that is bound to one.
type Confinement func(ctx context.Context, r *Request) error

// mayUse refuses a route that a key of one user may not use.
func mayUse(key memory.Key, c Confinement) error {
	if key.UserID == "" || c != nil {
		return nil
	}
	return memory.Errorf(memory.KindForbidden, "this concerns more than one user, and the key that was sent is bound to "+
		"the user %q: use a key of the whole app (`hippocampus key create` without --user)", key.UserID)
}

// Waiter bounds how long requests with `wait` wait.
type Waiter struct {
	timeout  time.Duration
	draining context.Context
}

// Waiter returns a waiter of a timeout.
func (s *Server) Waiter(timeout time.Duration) Waiter { return Waiter{timeout, s.draining} }

// Context returns a context that ends after the timeout or when the server drains.
func (w Waiter) Context(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, w.timeout)
	stop := context.AfterFunc(w.draining, cancel)
	return ctx, func() { stop(); cancel() }
}
