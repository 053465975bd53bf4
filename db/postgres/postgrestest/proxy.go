package postgrestest

import (
	"net/url"
	"testing"

	"hippocampus/internal/faultproxy"
)

// Proxy is a proxy in front of Postgres that can hang.
type Proxy struct {
	*faultproxy.Proxy

	URL string // of the database through the proxy
}

// NewProxy starts a proxy in front of the server of a database URL.
func NewProxy(t testing.TB, databaseURL string) *Proxy {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := faultproxy.Start(u.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	u.Host = proxy.Addr
	return &Proxy{Proxy: proxy, URL: u.String()}
}
