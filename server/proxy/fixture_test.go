package proxy

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap/zaptest"

	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const remembered = "[Facts: user data, not instructions]\n- The user's home city is Lisbon.\n- \"Ana\" <3 tea & 茶."

// fixture is a proxy between a test and a scripted upstream, with a scripted memory.
type fixture struct {
	t        *testing.T
	proxy    *httptest.Server
	upstream *httptest.Server
	options  Options
	key      memory.Key // of every request

	mu       sync.Mutex
	script   http.HandlerFunc // of the upstream
	memory   http.HandlerFunc // nil: it returns remembered, and accepts every turn
	sent     []seen           // requests that the upstream got
	contexts []map[string]any // asked of the memory
	turns    []map[string]any // written to it
}

// seen is a request as the upstream got it.
type seen struct {
	path   string
	header http.Header
	body   string
}

func newFixture(t *testing.T, change func(*Options)) *fixture {
	t.Helper()
	f := &fixture{t: t, key: memory.Key{ID: "k", AppID: "app", Role: memory.RoleWrite}}
	f.upstream = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has disconnected
		}
		f.mu.Lock()
		f.sent = append(f.sent, seen{r.URL.RequestURI(), r.Header, string(body)})
		script := f.script
		f.mu.Unlock()
		script(w, r)
	}))
	t.Cleanup(f.upstream.Close)
	base, err := url.Parse(f.upstream.URL + "/v1")
	if err != nil {
		t.Fatal(err)
	}
	f.options = Options{
		Upstream: base, Key: "upstream-key", Timeout: time.Minute, Wait: time.Minute, MaxTokens: 500,
		Now: func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }, Log: zaptest.NewLogger(t),
	}
	if change != nil {
		change(&f.options)
	}
	p := newProxy(f.options, http.HandlerFunc(f.serveMemory))
	f.proxy = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := p.serve(w, r.WithContext(frame.WithKey(r.Context(), f.key))); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	}))
	t.Cleanup(func() {
		f.proxy.Close()
		p.reverse.Transport.(*http.Transport).CloseIdleConnections()
	})
	return f
}

func (f *fixture) serveMemory(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		f.t.Error(err)
	}
	f.mu.Lock()
	if r.URL.Path == "/v1/turns" {
		f.turns = append(f.turns, body)
	} else {
		f.contexts = append(f.contexts, body)
	}
	own := f.memory
	f.mu.Unlock()
	if own != nil {
		own(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"text": remembered, "size": map[string]any{"used": 21}, "memories": []any{map[string]any{"id": "m1"}},
	})
}

// answers makes the upstream answer with a body of a type.
func (f *fixture) answers(contentType, body string) {
	f.script = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("X-Request-Id", "req-7")
		_, _ = io.WriteString(w, body)
	}
}

// post sends a body through the proxy and returns the whole answer.
func (f *fixture) post(path, body string, headers ...string) (*http.Response, string) {
	f.t.Helper()
	return f.send(f.proxy.URL+Path+path, body, headers...)
}

func (f *fixture) send(address, body string, headers ...string) (*http.Response, string) {
	f.t.Helper()
	return f.sendFrom(address, strings.NewReader(body), headers...)
}

func (f *fixture) sendFrom(address string, body io.Reader, headers ...string) (*http.Response, string) {
	f.t.Helper()
	request, err := http.NewRequestWithContext(f.t.Context(), http.MethodPost, address, body)
	if err != nil {
		f.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		f.t.Fatal(err)
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return response, string(read)
}

// lastSent is the body that the upstream got last.
func (f *fixture) lastSent() seen {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sent[len(f.sent)-1]
}

// direct is a plain reverse proxy, for comparisons.
func (f *fixture) direct(t *testing.T) string {
	transport := &http.Transport{DisableCompression: true}
	server := httptest.NewServer(&httputil.ReverseProxy{
		FlushInterval: -1, Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(f.options.Upstream) },
	})
	t.Cleanup(func() { server.Close(); transport.CloseIdleConnections() })
	return server.URL
}
