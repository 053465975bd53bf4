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
			ctx = llm.ForApp(ctx, r.Key.AppID)
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

// mayUse refuses a route that a key of one user may not use.
func mayUse(key memory.Key, c Confinement) error {
	if key.UserID == "" || c != nil {
		return nil
	}
	return memory.Errorf(memory.KindForbidden, "this concerns more than one user, and the key that was sent is bound to "+
		"the user %q: use a key of the whole app (`hippocampus key create` without --user)", key.UserID)
}
