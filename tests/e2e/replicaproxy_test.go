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
)

// behindCache puts a proxy in front of a server that gives the answer to a read a number of times. It counts answers,
// since on a busy machine few requests fall into a fixed time.
func behindCache(t *testing.T, s *server, times int) *server {
	t.Helper()
	upstream, err := url.Parse(s.address())
	if err != nil {
		t.Fatal(err)
	}
	cache := &staleCache{proxy: httputil.NewSingleHostReverseProxy(upstream), times: times, kept: map[string]*keptAnswer{}}
	proxy := httptest.NewServer(cache)
	t.Cleanup(proxy.Close)
	return &server{t: t, env: s.env, dir: s.dir, key: s.key, url: proxy.URL}
}

// staleCache is a proxy with a cache that no write empties.
type staleCache struct {
	proxy http.Handler
	times int // that an answer is given

	mu   sync.Mutex
	kept map[string]*keptAnswer // by request
}

type keptAnswer struct {
	*httptest.ResponseRecorder
	given int
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
	a := c.again(request)
	if a == nil {
		a = &keptAnswer{ResponseRecorder: httptest.NewRecorder(), given: 1}
		c.proxy.ServeHTTP(a, r)
		c.mu.Lock()
		c.kept[request] = a
		c.mu.Unlock()
	}
	w.WriteHeader(a.Code)
	_, _ = w.Write(a.Body.Bytes())
}

// again returns the answer that was given to a request; nil for a new request, or if the answer was given often enough.
func (c *staleCache) again(request string) *keptAnswer {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.kept[request]
	if a == nil || a.given >= c.times {
		return nil
	}
	a.given++
	return a
}
