package notify

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"hippocampus/internal/memory"
)

const (
	dialTimeout = 5 * time.Second
	idleTimeout = 30 * time.Second
	maxHeader   = 64 << 10
)

var errNotPublic = errors.New("the host has no public address: webhooks.allow_private would allow it")

// newClient makes the client of deliveries: it follows no redirect, uses no proxy,
// and connects only to public addresses unless AllowPrivate is set. It checks the
// address when it dials, after the name was resolved.
func newClient(s Settings) *http.Client {
	dialer := &net.Dialer{Timeout: dialTimeout}
	if !s.AllowPrivate {
		dialer.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil || !isPublic(to.Addr()) {
				return errNotPublic
			}
			return nil
		}
	}
	return &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSHandshakeTimeout: dialTimeout,
			MaxIdleConnsPerHost: 2, IdleConnTimeout: idleTimeout, MaxResponseHeaderBytes: maxHeader, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// special are the address blocks without public hosts, in addition to those that
// netip knows (https://www.iana.org/assignments/iana-ipv4-special-registry and
// .../iana-ipv6-special-registry). The last ones embed IPv4 addresses. 168.63.129.16
// is the metadata host of Azure.
var special = func() (blocks []netip.Prefix) {
	for _, block := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
		"168.63.129.16/32",
		"203.0.113.0/24", "240.0.0.0/4", "100::/64", "2001::/23", "2001:db8::/32", "5f00::/16", "fec0::/10",
		"64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "::/96",
	} {
		blocks = append(blocks, netip.MustParsePrefix(block))
	}
	return blocks
}()

// isPublic reports whether an address is publicly reachable.
func isPublic(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsGlobalUnicast() || a.IsPrivate() {
		return false // loopback, link-local, multicast, unspecified, broadcast; 10/8, 172.16/12, 192.168/16, fc00::/7
	}
	for _, block := range special {
		if block.Contains(a) {
			return false
		}
	}
	return true
}

// CheckURL returns what is wrong with the URL of a webhook, "" if nothing is. The
// addresses of its host are checked when an announcement is sent.
func (s Settings) CheckURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case len(text) > memory.MaxURLBytes:
		return fmt.Sprintf("has %d bytes: at most %d are allowed", len(text), memory.MaxURLBytes)
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return "is no http:// or https:// URL with a host"
	case u.User != nil:
		return "holds a user: deliveries are signed instead"
	case u.Fragment != "":
		return "has a fragment, which is never sent"
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	address, err := netip.ParseAddr(host)
	if !s.AllowPrivate && (host == "localhost" || strings.HasSuffix(host, ".localhost") ||
		err == nil && !isPublic(address)) {
		return "leads to a loopback or private address, which webhooks.allow_private would allow"
	}
	if !s.AllowPrivate && u.Scheme != "https" {
		return "is not encrypted: use https://, or allow http:// with webhooks.allow_private"
	}
	return ""
}
