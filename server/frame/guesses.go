package frame

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"

	"hippocampus/internal/memory"
)

// failedAuth is the name of the bound of failed authentications in metrics.
const failedAuth = "api.auth_failures"

// addressOf returns the address that failed authentications are counted for: that of the
// connection, whatever headers name, since a client can write any header. An IPv6 address
// counts as its /64, since one host may have all of it.
func addressOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	address = address.Unmap().WithZone("")
	if address.Is6() {
		if block, err := address.Prefix(64); err == nil {
			return block.String()
		}
	}
	return address.String()
}

// authenticated returns the key of a request. An address with too many failures gets
// KindTooFast for every secret that was not valid lately, so that a client can neither
// guess keys nor lock out backends that share its address, such as that of a proxy.
func (s *Server) authenticated(ctx context.Context, r *Request) (memory.Key, error) {
	address := addressOf(r.Request())
	secret, err := secretOf(r.Request())
	if wait := s.failures.wait(address); wait > 0 && (err != nil || !s.keys.knows(secret)) {
		return memory.Key{}, &memory.Error{
			Kind: memory.KindTooFast, Limit: failedAuth, RetryAfter: wait,
			Err: errors.New("this address has sent too many requests without a valid key: " +
				"wait for the seconds in Retry-After"),
		}
	}
	var key memory.Key
	if err == nil {
		key, err = s.keys.key(ctx, secret)
	}
	if memory.IsKind(err, memory.KindUnauthorized) {
		_ = s.failures.take(address) // refuses nothing: wait has found room
	}
	return key, err
}
