package frame

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"hippocampus/internal/memory"
)

// failedAuth is the name of the bound of failed authentications in metrics.
const failedAuth = "api.auth_failures"

// addressOf returns the address that failed authentications are counted for: that of the
// connection, whatever headers name, since a client can write any header. If a trusted proxy
// has made the connection, it is the last address in X-Forwarded-For that is not a trusted
// proxy. An IPv6 address counts as its /64, since one host may have all of it.
func (s *Server) addressOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	address = address.Unmap().WithZone("")
	if s.isProxy(address) {
		address = s.forwardedFor(address, r.Header.Values("X-Forwarded-For"))
	}
	if address.Is6() {
		if block, err := address.Prefix(64); err == nil {
			return block.String()
		}
	}
	return address.String()
}

// isProxy reports whether an address is that of a trusted proxy.
func (s *Server) isProxy(address netip.Addr) bool {
	return slices.ContainsFunc(s.proxies, func(p netip.Prefix) bool { return p.Contains(address) })
}

// forwardedFor returns the client of a trusted proxy: each proxy appends the address that it was called from.
func (s *Server) forwardedFor(proxy netip.Addr, headers []string) netip.Addr {
	hops := strings.Split(strings.Join(headers, ","), ",")
	for _, hop := range slices.Backward(hops) {
		address, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			return proxy
		}
		proxy = address.Unmap().WithZone("")
		if !s.isProxy(proxy) {
			break
		}
	}
	return proxy
}

// authenticated returns the key of a request. An address with too many failures gets
// KindTooFast for every secret that could be guessed and was not valid lately, so that a client
// can neither guess keys nor lock out backends that share its address, such as that of a proxy.
func (s *Server) authenticated(ctx context.Context, r *Request) (memory.Key, error) {
	address := s.addressOf(r.Request())
	secret, err := secretOf(r.Request())
	wait := s.failures.wait(address)
	if wait > 0 && (err != nil || !isGenerated(secret) && !s.keys.knows(secret)) {
		return memory.Key{}, tooManyFailures(wait)
	}
	var key memory.Key
	if err == nil {
		key, err = s.keys.key(ctx, secret)
	}
	if memory.IsKind(err, memory.KindUnauthorized) {
		if wait > 0 {
			return memory.Key{}, tooManyFailures(wait)
		}
		_ = s.failures.take(address) // refuses nothing: wait has found room
	}
	return key, err
}

func tooManyFailures(wait time.Duration) error {
	return &memory.Error{
		Kind: memory.KindTooFast, Limit: failedAuth, RetryAfter: wait,
		Err: errors.New("this address has sent too many requests without a valid key: " +
			"wait for the seconds in Retry-After"),
	}
}
