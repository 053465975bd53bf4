package e2e

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
	"time"
)

// behindCache puts a proxy in front of a server that repeats the answer to a read for some time.
func behindCache(t *testing.T, s *server, keep time.Duration) *server {
	t.Helper()
	upstream, err := url.Parse(s.address())
	if err != nil {
		t.Fatal(err)
	}
	cache := &staleCache{proxy: httputil.NewSingleHostReverseProxy(upstream), keep: keep, kept: map[string]keptAnswer{}}
	proxy := httptest.NewServer(cache)
	t.Cleanup(proxy.Close)
	return &server{t: t, env: s.env, dir: s.dir, key: s.key, url: proxy.URL}
}

// staleCache is a proxy with a cache that no write empties.
type staleCache struct {
	proxy http.Handler
	keep  time.Duration

	mu   sync.Mutex
	kept map[string]keptAnswer // by request
}

type keptAnswer struct {
	*httptest.ResponseRecorder
	at time.Time
}

func (c *staleCache) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.URL.Path != "/v1/recall" {
		c.proxy.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	request := r.Method + r.URL.String() + string(body)
	c.mu.Lock()
	a, known := c.kept[request]
	c.mu.Unlock()
	if !known || time.Since(a.at) > c.keep {
		a = keptAnswer{ResponseRecorder: httptest.NewRecorder(), at: time.Now()}
		c.proxy.ServeHTTP(a, r)
		c.mu.Lock()
		c.kept[request] = a
		c.mu.Unlock()
	}
	w.WriteHeader(a.Code)
	_, _ = w.Write(a.Body.Bytes())
}
