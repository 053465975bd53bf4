package frame

import (
	"net/http"
	"net/netip"
	"testing"
)

func TestAddressOf_GroupsAddressesOfOneHost(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]string{
		"192.0.2.1:80": "192.0.2.1", "[::ffff:192.0.2.1]:80": "192.0.2.1", "[2001:db8:1:2:3::4]:80": "2001:db8:1:2::/64",
		"[fe80::1%eth0]:80": "fe80::/64", "@": "@", "host:80": "host",
	} {
		if got := (&Server{}).addressOf(&http.Request{RemoteAddr: remote}); got != want {
			t.Errorf("%s is %s, want %s", remote, got, want)
		}
	}
}

func TestAddressOf_BelievesTrustedProxiesAlone(t *testing.T) {
	t.Parallel()
	s := &Server{proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::1/128")}}
	for _, c := range []struct{ remote, forwarded, want string }{
		{"10.0.0.1:80", "192.0.2.7", "192.0.2.7"},
		{"10.0.0.1:80", "198.51.100.1, 192.0.2.7", "192.0.2.7"}, // the client wrote the first
		{"10.0.0.1:80", "192.0.2.7, 10.0.0.2", "192.0.2.7"},
		{"10.0.0.1:80", "", "10.0.0.1"},
		{"10.0.0.1:80", "unknown", "10.0.0.1"},
		{"10.0.0.1:80", "unknown, 10.0.0.2", "10.0.0.2"},
		{"[2001:db8::1]:80", "2001:db8:1:2::9", "2001:db8:1:2::/64"},
		{"192.0.2.1:80", "192.0.2.7", "192.0.2.1"},
	} {
		r := &http.Request{RemoteAddr: c.remote, Header: http.Header{"X-Forwarded-For": {c.forwarded}}}
		if got := s.addressOf(r); got != c.want {
			t.Errorf("%s for %q is %s, want %s", c.remote, c.forwarded, got, c.want)
		}
	}
}
