package api

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Most clients send the whole body before they read the answer. They must not find the connection broken.
func TestServer_ReadsRefusedBodies(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) { o.Access.RateLimit, o.Access.RateBurst = 0.001, 3 })
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	body := bytes.Repeat([]byte("no JSON\n"), 32<<20/8)
	for _, c := range []struct {
		what, path, key, media string
		want                   int
	}{
		{"an unknown key", "/v1/turns", "guess", "application/json", http.StatusUnauthorized},
		{"another type", "/v1/turns", "write", "text/plain", http.StatusUnsupportedMediaType},
		{"another charset", "/v1/turns", "write", "application/json; charset=gbk", http.StatusBadRequest},
		{"too large", "/v1/turns", "write", "application/json; charset=UTF-8", http.StatusRequestEntityTooLarge},
		{"too many requests", "/v1/turns", "write", "application/json", http.StatusTooManyRequests},
		{"no export", "/v1/import", "admin", "application/x-ndjson", http.StatusBadRequest},
	} {
		connection, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { connection.Close() })
		fmt.Fprintf(connection, "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"+
			"Content-Type: %s\r\nContent-Length: %d\r\n\r\n", c.path, c.key, c.media, len(body))
		if _, err := connection.Write(body); err != nil {
			t.Errorf("%s: the body cannot be sent: %v", c.what, err)
			continue
		}
		answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		answer.Body.Close()
		if answer.StatusCode != c.want {
			t.Errorf("%s: status %d, want %d", c.what, answer.StatusCode, c.want)
		}
	}
}

// What follows a body that is not framed as HTTP says must not be read as a request.
func TestServer_ClosesAfterABrokenBody(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(newFixture(t, nil))
	t.Cleanup(server.Close)
	connection, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	fmt.Fprint(connection, "POST /v1/turns HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer write\r\n"+
		"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n")
	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusBadRequest || !answer.Close {
		t.Errorf("status %d, closed %t; want 400, closed", answer.StatusCode, answer.Close)
	}
}
