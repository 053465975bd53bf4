package frame

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"hippocampus/internal/memory"
)

// DevApp is the app of every request if authentication is off.
const DevApp = "default"

// secretOf returns the API key that a request carries. Clients of mem0 send the scheme Token.
func secretOf(r *http.Request) (string, error) {
	header := r.Header.Get("Authorization")
	if header == "" {
		if secret := r.Header.Get("X-API-Key"); secret != "" {
			return secret, nil
		}
		return "", memory.Errorf(memory.KindUnauthorized,
			"no API key: send `Authorization: Bearer KEY` or `X-API-Key: KEY`")
	}
	scheme, secret, _ := strings.Cut(header, " ")
	secret = strings.TrimSpace(secret)
	switch {
	case !strings.EqualFold(scheme, "Bearer") && !strings.EqualFold(scheme, "Token"):
		return "", memory.Errorf(memory.KindUnauthorized, "the Authorization header is not of the form `Bearer KEY`")
	case secret == "":
		return "", memory.Errorf(memory.KindUnauthorized,
			"the Authorization header has no key: was a variable such as HIPPOCAMPUS_KEY set before the request was sent?")
	}
	return secret, nil
}

// authenticate finds the key of a request.
func (s *Server) authenticate(ctx context.Context, r *Request) error {
	if key, ok := KeyOf(ctx); ok {
		r.Key = key
		return nil
	}
	if s.dev {
		if !isLoopback(r.Request().Host) {
			return memory.Errorf(memory.KindForbidden, "with --dev the server answers only requests to localhost or a "+
				"loopback address, so that no page of another site reaches it: use one, or start it without --dev")
		}
		if err := s.sameOrigin.Check(r.Request()); err != nil {
			return memory.Errorf(memory.KindForbidden, "with --dev the server takes no changes from pages of other "+
				"origins: name the page's origin in api.cors_origins, or start it without --dev")
		}
		r.Key = memory.Key{ID: "dev", AppID: DevApp, Role: memory.RoleOperator}
		return nil
	}
	var err error
	r.Key, err = s.authenticated(ctx, r)
	return err
}

// isLoopback reports whether the host of a request, with or without a port, is this machine. Browsers send the name of
// the page's site, even if that site has pointed its name to 127.0.0.1.
func isLoopback(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = strings.Trim(hostPort, "[]")
	}
	address, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && address.Unmap().IsLoopback()
}

// admit authenticates a request of a route and checks the role, the app and the rate of its key.
func (s *Server) admit(ctx context.Context, r *Request, rt Route) error {
	if err := s.authenticate(ctx, r); err != nil {
		return err
	}
	r.Set(callerKey, r.Key)
	switch {
	case !r.Key.Role.Includes(rt.Role):
		return NeedsRole(rt.Role, r.Key)
	case r.Key.AppID == "" && !rt.ServerWide:
		return memory.Errorf(memory.KindForbidden, "this needs a key of an app, and the key that was sent is the "+
			"operator's, which belongs to no app: make one with `hippocampus key create --app APP --role %s`", rt.Role)
	}
	if _, ok := KeyOf(ctx); ok {
		return nil // the request of the mount was counted
	}
	return s.rates.take(r.Key.ID)
}

// whileValid returns a context that ends when the key of a request is revoked, with an error of KindUnauthorized as its
// cause. It checks this at intervals of the time for which a key is cached. The caller must call end.
func (s *Server) whileValid(ctx context.Context, r *Request) (valid context.Context, end func()) {
	valid, cancel := context.WithCancelCause(ctx)
	secret, err := secretOf(r.Request())
	if s.dev || err != nil {
		return valid, func() { cancel(nil) }
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(s.keys.ttl)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				if _, err := s.keys.key(valid, secret); memory.IsKind(err, memory.KindUnauthorized) {
					cancel(err)
				}
			case <-valid.Done():
				return
			}
		}
	}()
	return valid, func() { cancel(nil); <-ended }
}

// Revoked returns the error that ended a context of whileValid, if the key was revoked.
func Revoked(valid context.Context) error {
	if err := context.Cause(valid); memory.IsKind(err, memory.KindUnauthorized) {
		return err
	}
	return nil
}

// NeedsRole is the error of a request whose key has too weak a role.
func NeedsRole(needed memory.Role, key memory.Key) error {
	why := ""
	if needed == memory.RoleOperator {
		why = ", since it concerns all apps: make one with `hippocampus key create --role operator`"
	}
	return memory.Errorf(memory.KindForbidden,
		"this needs a key of role %s%s; the one sent has role %s", needed, why, key.Role)
}
