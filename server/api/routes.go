package api

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"hippocampus/internal/memory"
)

// handler answers a request that satisfies openapi.yaml with a body that
// becomes JSON, one of withStatus, or nil if it has written the response itself.
type handler func(ctx context.Context, r *request) (any, error)

// withStatus returns the body of an answer with a status other than 200; body may be nil.
func withStatus(status int, body any) any { return answer{status, body} }

// answer is a body with a status other than 200; the body may be nil.
type answer struct {
	status int
	body   any
}

// request is what a handler works on.
type request struct {
	echo.Context
	checks            // what is wrong with the request
	key    memory.Key // zero if the route needs no key
	query  url.Values // checked against openapi.yaml
	body   []byte     // one JSON object, checked against openapi.yaml; nil without a JSON body
	items  itemFaults // what is wrong with the items that the route refuses one by one

	keepSecrets bool
	altered     altered // in the body
}

// itemFaults holds what is wrong with the items of a list, by index.
type itemFaults map[int][]memory.Field

// route is one entry of the API.
type route struct {
	method, path string
	role         memory.Role // the weakest that may use it; empty: it needs no key and reads nothing of the request
	serverWide   bool        // it also serves keys that belong to no app
	bodyLimit    int64       // bytes; unlimited: a stream, whose time is not limited either
	handle       handler
}

const unlimited = -1

// routes collects the routes of the features.
type routes struct {
	limits limits
	list   []route
}

// add adds a route such as "GET /v1/turns/:id".
func (r *routes) add(pattern string, role memory.Role, h handler) {
	r.addLimited(pattern, role, r.limits.body, h)
}

// addServerWide adds a route that also serves keys which belong to no app.
func (r *routes) addServerWide(pattern string, role memory.Role, h handler) {
	r.add(pattern, role, h)
	r.list[len(r.list)-1].serverWide = true
}

// addStream adds a route whose body or response is a stream.
func (r *routes) addStream(pattern string, role memory.Role, h handler) {
	r.addLimited(pattern, role, unlimited, h)
}

// addLimited adds a route with its own limit of the body.
func (r *routes) addLimited(pattern string, role memory.Role, bodyLimit int64, h handler) {
	method, path, _ := strings.Cut(pattern, " ")
	r.list = append(r.list, route{method: method, path: path, role: role, bodyLimit: bodyLimit, handle: h})
}

// addRoutes adds routes. It fails if the contract does not describe one of them.
func (s *frameServer) addRoutes(routes *routes) error {
	for _, rt := range routes.list {
		op, err := s.contract.operation(rt.method, rt.path)
		if err != nil {
			return err
		}
		s.echo.Add(rt.method, rt.path, s.serve(rt, op))
	}
	return nil
}

// serve checks the requests of a route, runs its handler and sends the answer.
func (s *frameServer) serve(rt route, op *operation) echo.HandlerFunc {
	var confine confinement
	if s.confine != nil {
		confine = s.confine(rt, op)
	}
	return func(c echo.Context) error {
		ctx := c.Request().Context()
		if rt.bodyLimit != unlimited {
			limited, cancel := context.WithTimeout(ctx, s.limits.work)
			defer cancel()
			ctx = limited
		}
		r := &request{Context: c, keepSecrets: s.keepSecrets}
		if rt.role != "" {
			if err := s.admit(ctx, r, rt); err != nil {
				return err
			}
			if err := mayUse(r.key, confine); err != nil {
				return err
			}
			if err := op.check(r, rt.bodyLimit); err != nil {
				return err
			}
			if r.key.UserID != "" {
				if err := confine(ctx, r); err != nil {
					return err
				}
			}
		}
		if rt.bodyLimit == unlimited {
			valid, end := s.whileValid(ctx, r)
			defer end()
			ctx = valid
		}
		body, err := rt.handle(ctx, r)
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

// withBody makes a handler of one that takes the decoded body.
func withBody[T any](h func(ctx context.Context, r *request, body T) (any, error)) handler {
	return func(ctx context.Context, r *request) (any, error) {
		body, err := decode[T](r.body)
		if err != nil {
			return nil, err
		}
		return h(ctx, r, body)
	}
}

// confinement refuses what goes beyond the user of a key that is bound to one.
type confinement func(ctx context.Context, r *request) error

// mayUse refuses a route that a key of one user may not use.
func mayUse(key memory.Key, c confinement) error {
	if key.UserID == "" || c != nil {
		return nil
	}
	return memory.Errorf(memory.KindForbidden, "this concerns more than one user, and the key that was sent is bound to "+
		"the user %q: use a key of the whole app (`hippocampus key create` without --user)", key.UserID)
}

// waiter bounds how long requests with `wait` wait.
type waiter struct {
	timeout  time.Duration
	draining context.Context
}

// newWaiter returns a waiter of a timeout. draining ends when the server drains.
func newWaiter(timeout time.Duration, draining context.Context) waiter {
	return waiter{timeout, draining}
}

// context returns a context that ends after the timeout or when the server drains.
func (w waiter) context(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, w.timeout)
	stop := context.AfterFunc(w.draining, cancel)
	return ctx, func() { stop(); cancel() }
}
