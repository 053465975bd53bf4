package frame

import (
	"context"
	"strings"
	"time"

	"hippocampus/internal/memory"
)

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

// Confinement refuses requests beyond the user whom a key is bound to.
type Confinement func(ctx context.Context, r *Request) error

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
