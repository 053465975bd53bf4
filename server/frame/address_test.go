package frame

import (
	"net/http"
	"testing"
)

func TestAddressOf_GroupsAddressesOfOneHost(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]string{
		"192.0.2.1:80": "192.0.2.1", "[::ffff:192.0.2.1]:80": "192.0.2.1", "[2001:db8:1:2:3::4]:80": "2001:db8:1:2::/64",
		"[fe80::1%eth0]:80": "fe80::/64", "@": "@", "host:80": "host",
	} {
		if got := addressOf(&http.Request{RemoteAddr: remote}); got != want {
			t.Errorf("%s is %s, want %s", remote, got, want)
		}
	}
}
