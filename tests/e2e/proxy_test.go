package e2e

import (
	"testing"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

// newProxy puts a TCP proxy in front of a server, so that one test can cut its
// connections and no other test's.
func newProxy(t *testing.T, upstream string) *toxiproxy.Proxy {
	t.Helper()
	log := zerolog.Nop()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), log)
	proxy := toxiproxy.NewProxy(server, "upstream", newAddress(t), upstream)
	reconnect(t, proxy)
	t.Cleanup(proxy.Stop)
	return proxy
}

// reconnect lets connections through. A process that another test starts has a copy of the listener that was closed,
// until it executes its program: until then the port is in use.
func reconnect(t *testing.T, proxy *toxiproxy.Proxy) {
	t.Helper()
	eventually(t, "the proxy listening on its port", func() string {
		if err := proxy.Start(); err != nil {
			return err.Error()
		}
		return ""
	})
}

// cut closes every connection and refuses new ones. The port stays the proxy's own.
func cut(t *testing.T, proxy *toxiproxy.Proxy) {
	t.Helper()
	proxy.Stop()
}
