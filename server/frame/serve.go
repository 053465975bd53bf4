package frame

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// AddRoutes adds routes. It fails if the contract does not describe one of them.
func (s *Server) AddRoutes(routes *Routes) error {
	for _, rt := range routes.List {
		describe, err := s.contract.Operation(rt.Method, rt.Path)
		if err != nil {
			return err
		}
		s.echo.Add(rt.Method, rt.Path, s.serve(rt, describe))
	}
	return nil
}

// serve checks the requests of a route, runs its handler and sends the answer.
func (s *Server) serve(rt Route, describe func() (*Operation, error)) echo.HandlerFunc {
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
			ctx = llm.ForApp(ctx, r.Key.AppID)
			if err := s.check(ctx, r, rt, describe); err != nil {
				return err
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

// check checks an admitted request against the contract, and the key of one user against whom the request concerns.
func (s *Server) check(ctx context.Context, r *Request, rt Route, describe func() (*Operation, error)) error {
	op, err := describe()
	if err != nil {
		return err
	}
	if r.Key.UserID == "" {
		return op.check(r, rt.BodyLimit)
	}
	var confine Confinement
	if s.confine != nil {
		confine = s.confine(rt, op)
	}
	if confine == nil {
		return memory.Errorf(memory.KindForbidden, "this concerns more than one user, and the key that was sent is bound to "+
			"the user %q: use a key of the whole app (`hippocampus key create` without --user)", r.Key.UserID)
	}
	if err := op.check(r, rt.BodyLimit); err != nil {
		return err
	}
	return confine(ctx, r)
}
