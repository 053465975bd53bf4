package notify

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/memory"
)

// number finds what looks like a part of an address.
var number = regexp.MustCompile(`\d|::`)

// closing returns the address of a listener that handles each connection with f.
func closing(t *testing.T, f func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	done := make(chan struct{})
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			f(conn)
			_ = conn.Close()
		}
	}()
	return l.Addr().String()
}

// Whatever is wrong with a host, the text for clients names no address, port, resolver or other name.
func TestCourier_NamesNoAddress(t *testing.T) {
	t.Parallel()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	plain := newReceiver(t)
	free := closing(t, func(net.Conn) {})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	refusing := l.Addr().String()
	must(t, l.Close())
	alerting := closing(t, func(conn net.Conn) {
		_ = tls.Server(conn, &tls.Config{MinVersion: tls.VersionTLS13}).HandshakeContext(t.Context()) // has no certificate
	})
	garbled := closing(t, func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 1<<10))
		_, _ = io.WriteString(conn, "HTTP/1.1 2oo 10.9.8.7\r\n\r\n")
	})
	resolver := func(c *courier, code byte) { // answers with the code of RFC 1035, 4.1.1
		dns := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			go func() {
				defer there.Close()
				query := make([]byte, 2<<10)
				n, _ := there.Read(query)
				if n < 14 {
					return
				}
				query[4], query[5] = query[4]|0x80, query[5]&0xf0|code
				_, _ = there.Write(query[:n])
			}()
			return here, nil
		}}
		c.client.Transport.(*http.Transport).DialContext = (&net.Dialer{Resolver: dns}).DialContext
	}
	patient := local
	patient.Timeout = time.Minute
	strict := patient
	strict.AllowPrivate = false
	for name, c := range map[string]struct {
		set       Settings
		url, want string
		change    func(*courier)
	}{
		"a private address":    {strict, plain.URL, "the host has no public address", nil},
		"a name of a private":  {strict, strings.Replace(plain.URL, "127.0.0.1", "localhost", 1), "no public address", nil},
		"a closed port":        {patient, "http://" + refusing, "refused the connection", nil},
		"an unknown name":      {patient, "http://hook.invalid.:81", "does not exist", func(c *courier) { resolver(c, 3) }},
		"a failing resolver":   {patient, "http://hook.invalid.:81", "be resolved", func(c *courier) { resolver(c, 2) }},
		"an unknown authority": {patient, secure.URL, "unknown authority", nil},
		"another name": {patient, strings.Replace(secure.URL, "127.0.0.1", "localhost", 1), "another", func(c *courier) {
			roots := secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
			c.client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
		}},
		"an old certificate": {patient, secure.URL, "has expired", func(c *courier) {
			roots := secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
			c.client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12,
				Time: func() time.Time { return time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC) }}
		}},
		"no encryption":   {patient, strings.Replace(plain.URL, "http:", "https:", 1), "could not be", nil},
		"no certificate":  {patient, "https://" + alerting, "encrypted connection", nil},
		"an early end":    {patient, "http://" + free, "closed the connection", nil},
		"a garbled reply": {patient, "http://" + garbled, "could not be", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sender := newCourier(c.set)
			t.Cleanup(sender.client.CloseIdleConnections)
			if c.change != nil {
				c.change(&sender)
			}
			err := sender.send(t.Context(), memory.Webhook{URL: c.url, Secret: secret}, parcel{id: "id"}, time.Now())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want an error with %q; in detail %v", err, c.want, detailed(err))
			}
			if found := number.FindString(err.Error()); found != "" || strings.Contains(err.Error(), "invalid.") {
				t.Errorf("%q names an address", err)
			}
		})
	}
}
