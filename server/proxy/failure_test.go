package proxy

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestProxy_WritesNoTurnOfABrokenAnswer(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]http.HandlerFunc{
		"an error": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"error":{"message":"slow down"}}`, http.StatusTooManyRequests)
		},
		"a cut stream": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte(stream[:len(stream)/2]))
		},
		"an empty answer": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"choices":[{"index":0,"message":{"content":""},"finish_reason":"length"}]}`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, nil)
			f.script = script
			f.post("chat/completions", odd, headerUser, "ana")
			if len(f.turns) != 0 {
				t.Errorf("turns: %v", f.turns)
			}
		})
	}
}

func TestProxy_PassesWhenMemoryFails(t *testing.T) {
	t.Parallel()
	fail := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for name, test := range map[string]struct {
		memory  http.HandlerFunc
		timeout time.Duration
		reason  string
	}{
		"an error": {fail, time.Minute, "status-503"},
		"too slow": {hang, 20 * time.Millisecond, "timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, func(o *Options) { o.Timeout = test.timeout })
			f.answers("application/json", whole)
			f.memory = test.memory
			response, got := f.post("chat/completions", odd, headerUser, "ana", headerMemory, "read")
			if got != whole || f.lastSent().body != odd {
				t.Errorf("answer %s to %s", got, f.lastSent().body)
			}
			if response.Header.Get(headerError) != test.reason ||
				response.Header.Get(headerMemory) != "none; reason="+test.reason {
				t.Errorf("headers %v", response.Header)
			}
		})
	}
}

// A client of the proxy does not know of the turn, and cannot repeat it.
func TestProxy_RepeatsTheTurnWhileTheServerIsBusy(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.answers("application/json", whole)
	refusals := 2
	f.memory = func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/turns" || refusals == 0 {
			_, _ = io.WriteString(w, "{}")
			return
		}
		refusals--
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `{"type":"urn:hippocampus:problem:busy","status":503}`)
	}
	if _, got := f.post("chat/completions", odd, headerUser, "ana"); got != whole {
		t.Errorf("%s", got)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.turns) != 3 || f.turns[0]["id"] != f.turns[2]["id"] {
		t.Errorf("turns: %v", f.turns)
	}
}

func TestProxy_ReportsAnUpstreamThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.upstream.Close()
	response, got := f.post("chat/completions", odd, headerUser, "ana")
	var body struct {
		Error struct{ Message, Type, Code string }
	}
	if err := json.Unmarshal([]byte(got), &body); err != nil || response.StatusCode != http.StatusBadGateway ||
		!strings.Contains(body.Error.Message, "proxy.upstream") || response.Header.Get(headerTurn) != "" {
		t.Errorf("%d %s %v", response.StatusCode, got, err)
	}
}

// A body that is too large to be read passes without memory, whether its length is stated or not.
func TestProxy_PassesHugeBodies(t *testing.T) {
	t.Parallel()
	const chats, large = "chat/completions", "none; reason=large-body"
	huge := odd + strings.Repeat(" ", 1000)
	off := []string{headerMemory, "off"}
	for name, test := range map[string]struct {
		path, state string
		body        io.Reader
		headers     []string
	}{
		"its length stated":   {path: chats, body: strings.NewReader(huge), state: large},
		"in chunks":           {path: chats, body: io.MultiReader(strings.NewReader(huge)), state: large},
		"in chunks, off":      {path: chats, body: io.MultiReader(strings.NewReader(huge)), state: "off", headers: off},
		"a file, in chunks":   {path: "files", body: io.MultiReader(strings.NewReader(huge))},
		"a file, with length": {path: "files", body: strings.NewReader(huge)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, func(o *Options) { o.maxBody = 1000 })
			f.answers("application/json", whole)
			response, got := f.sendFrom(f.proxy.URL+Path+test.path, test.body, append(test.headers, headerUser, "ana")...)
			if got != whole || f.lastSent().body != huge || response.Header.Get(headerMemory) != test.state {
				t.Errorf("%d %s, %v", response.StatusCode, got, response.Header)
			}
		})
	}
}

// With memory off, the upstream reads a request before the client has sent all of it.
func TestProxy_StreamsRequestsWithMemoryOff(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	begun := make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadFull(r.Body, make([]byte, len("first"))); err != nil {
			t.Error(err)
		}
		close(begun)
		_, _ = io.Copy(w, r.Body)
	}))
	defer upstream.Close()
	base, err := url.Parse(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	*f.options.Upstream = *base
	body, sent := io.Pipe()
	go func() {
		_, _ = io.WriteString(sent, "first")
		<-begun
		_, _ = io.WriteString(sent, ", second")
		_ = sent.Close()
	}()
	_, got := f.sendFrom(f.proxy.URL+Path+"chat/completions", body, headerUser, "ana", headerMemory, "off")
	if got != ", second" {
		t.Errorf("the answer is %q", got)
	}
}

func TestProxy_ReportsAnUpstreamThatIsTooSlow(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) { o.Wait = 10 * time.Millisecond })
	answered := make(chan struct{})
	f.script = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done(); close(answered) }
	response, got := f.post("chat/completions", odd, headerUser, "ana")
	if response.StatusCode != http.StatusGatewayTimeout || !strings.Contains(got, "has not answered within 10ms") ||
		response.Header.Get(headerTurn) != "" || len(f.turns) != 0 {
		t.Errorf("%d %s %v", response.StatusCode, got, response.Header)
	}
	<-answered
}
