package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// recorder is a model that keeps the body of its last request, and answers each with the same text.
type recorder struct {
	mu   sync.Mutex
	last string
}

func (m *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the server has disconnected
	}
	m.mu.Lock()
	m.last = string(body)
	m.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	const answer = `{"choices":[{"index":0,"message":{"role":"assistant","content":"I see."},"finish_reason":"stop"}]}`
	_, _ = io.WriteString(w, answer)
}

// got returns the body of the last request.
func (m *recorder) got() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}

// startProxy starts a server whose proxy passes to a recorder.
func startProxy(t *testing.T, settings ...string) (*server, *recorder) {
	t.Helper()
	model := &recorder{}
	upstream := httptest.NewServer(model)
	t.Cleanup(upstream.Close)
	settings = append(settings, "HIPPOCAMPUS_PROXY_UPSTREAM="+upstream.URL, "HIPPOCAMPUS_PROXY_TIMEOUT=30s")
	return start(t, settings...), model
}

const chats = "/proxy/v1/chat/completions"

func TestProxy_KeepsUsersAndAppsApart(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s, model := startProxy(t, size.settings(t)...)
		code := func(i int) string { return fmt.Sprint(712_000 + i) }
		for i, user := range hostileIDs {
			s.call("POST", "/v1/memories", object{"user_id": user, "content": "The vault code is " + code(i) + "."}, 201)
		}
		ask := func(user string) reply {
			return s.call("POST", chats, object{
				"user": user, "messages": []object{{"role": "user", "content": "What is the vault code?"}},
			}, 200)
		}
		for i, user := range hostileIDs {
			ask(user)
			if got := model.got(); !strings.Contains(got, code(i)) || strings.Count(got, "712") != strings.Count(got, code(i)) {
				t.Errorf("the model of %q got %s instead of the code %s", user, got, code(i))
			}
		}
		for user := range refusedIDs {
			if r := ask(user); strings.Contains(model.got(), "712") || r.header.Get("X-Hippocampus-Memory") == "injected" {
				t.Errorf("the model of %q got %s", user, model.got())
			}
		}
		s.key = s.createKey("--app", `other" or app_id != "`, "--role", "write")
		for _, user := range hostileIDs {
			ask(user)
			if strings.Contains(model.got(), "712") {
				t.Errorf("another app's model of %q got %s", user, model.got())
			}
		}
	})
}

// Bodies that the proxy does not understand reach the model unchanged.
func TestProxy_PassesMalformedBodies(t *testing.T) {
	t.Parallel()
	s, model := startProxy(t)
	const user = `"user":"ada",`
	for _, body := range []string{
		``, ` `, `{`, `null`, `[]`, `"x"`, `1e999`, "\x00", `{` + user + `"messages":{}}`, `{` + user + `"messages":[]}`,
		`{` + user + `"messages":[1]}`, `{` + user + `"messages":[{"role":7,"content":"x"}]}`,
		`{` + user + `"messages":[{"role":"user","content":7}]}`, `{` + user + `"messages":[{"role":"user","content":[[]]}]}`,
		`{` + user + `"messages":[{"role":"user","content":"x"}]`, `{` + user + `"input":{}}`, `{` + user + `"input":[[]]}`,
		`{` + user + `"messages":[{"role":"user","content":"x"}]} {}`, strings.Repeat("[", 200_000),
		`{"messages":` + strings.Repeat(`[`, 20_000) + strings.Repeat(`]`, 20_000) + `}`,
		`{"user":{"$ne":null},"messages":[{"role":"user","content":"x"}]}`,
		`{"user":"a\u0000","messages":[{"role":"user","content":"x"}]}`,
		`{` + user + `"messages":[{"role":"system","content":"x"}]}`,
	} {
		for _, path := range []string{chats, "/proxy/v1/responses"} {
			r := s.call("POST", path, body, 200)
			if model.got() != body || r.header.Get("X-Hippocampus-Memory") == "injected" {
				t.Errorf("%s: of %.80q the model got %.80q, %v", path, body, model.got(), r.header)
			}
		}
	}
	for _, body := range []string{
		"{" + user + "\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}",
		`{` + user + `"messages":[{"role":"user","content":"\ud800"}]}`,
		`{"user":"bob",` + user + `"messages":[{"role":"user","content":"x"}],"messages":[]}`,
		`{` + user + `"messages":[{"role":"king","content":"x"}]}`,
		`{` + user + `"messages":[{"role":"user","content":"` + strings.Repeat("字", 99_999) + `"}]}`,
		`{` + user + `"messages":[` + strings.Repeat(`{"role":"user","content":"x"},`, 5000) + `{}]}`,
	} {
		s.call("POST", chats, body, 200)
	}
	for _, path := range []string{"/proxy/v1/%2e%2e/%2e%2e/v1/users", "/proxy/v1/..%2f..%2fmetrics"} {
		if r := s.call("GET", path, nil, 400); !strings.Contains(r.raw, `{"error":{"message":`) {
			t.Errorf("%s: %s", path, r.raw)
		}
	}
	s.key = "unknown"
	if r := s.call("POST", chats, `{}`, 401); !strings.Contains(r.raw, `"code":"unauthorized"`) {
		t.Errorf("an unknown key: %s", r.raw)
	}
}
