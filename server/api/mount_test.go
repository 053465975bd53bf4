package api

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// repeater is a mount that sends its body to a route, as the key that was admitted.
func repeater(method, path string) frame.Mount {
	return frame.Mount{Path: "/repeat", Role: memory.RoleRead, Open: func(v1 http.Handler) frame.MountHandler {
		return func(w http.ResponseWriter, r *http.Request) error {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return err
			}
			inner := httptest.NewRequest(method, path, bytes.NewReader(body)).WithContext(r.Context())
			inner.Header.Set("Content-Type", "application/json")
			inner.Header.Set("Authorization", "Bearer of nobody")
			v1.ServeHTTP(w, inner)
			return nil
		}
	}}
}

// through sends a request to the mount.
func (f *fixture) through(body string, headers ...string) *httptest.ResponseRecorder {
	f.t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/repeat", strings.NewReader(body))
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w
}

func TestMount_AsksAsTheAdmittedKey(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) { o.Mounts = []frame.Mount{repeater("POST", "/v1/memories")} })
	f.issue("other", "other", memory.RoleWrite)
	write := `{"user_id":"u","content":"Lives in Lisbon."}`
	for name, c := range map[string]struct {
		header, value string
		status        int
	}{
		"bearer":         {"Authorization", "Bearer write", 201},
		"token":          {"Authorization", "Token write", 201},
		"key header":     {"X-API-Key", "write", 201},
		"role too weak":  {"Authorization", "Bearer read", 403},
		"no key":         {"X-Other", "", 401},
		"unknown key":    {"Authorization", "Bearer unknown", 401},
		"another scheme": {"Authorization", "Basic write", 401},
	} {
		if w := f.through(write, c.header, c.value, "X-Request-Id", "r-1"); w.Code != c.status ||
			w.Header().Get("X-Request-Id") != "r-1" {
			t.Errorf("%s: %d, want %d: %v %s", name, w.Code, c.status, w.Header(), w.Body)
		}
	}
	w := f.through(write, "Authorization", "Bearer other")
	id := parse[writtenBody](t, w).ID
	f.want(404, "GET", "/v1/memories/"+id, "")
	f.want(200, "GET", "/v1/memories/"+id, "", "Authorization", "Bearer other")
}

func TestMount_CountsOnceTowardsTheRate(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) {
		o.Mounts = []frame.Mount{repeater("POST", "/v1/recall")}
		o.Access.RateLimit, o.Access.RateBurst = 1, 3
	})
	for range 3 {
		if w := f.through(aQuery, "X-API-Key", "read"); w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	if w := f.through(aQuery, "X-API-Key", "read"); w.Code != 429 || w.Header().Get("Retry-After") == "" {
		t.Errorf("above the rate: %d %s", w.Code, w.Body)
	}
}

func TestMount_LimitsTheBody(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) { o.Mounts = []frame.Mount{repeater("POST", "/v1/recall")} })
	if w := f.through(strings.Repeat(" ", 1<<20+1), "X-API-Key", "read"); w.Code != 413 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestMount_WritesErrorsInItsOwnForm(t *testing.T) {
	t.Parallel()
	own := repeater("POST", "/v1/recall")
	own.Open = func(http.Handler) frame.MountHandler {
		return func(http.ResponseWriter, *http.Request) error { return memory.Errorf(memory.KindNotFound, "not here") }
	}
	own.Fail = func(w http.ResponseWriter, status int, p frame.Problem) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "own: "+p.Detail)
	}
	f := newFixture(t, func(o *Options) {
		o.Mounts = []frame.Mount{own}
		o.Access.RateLimit, o.Access.RateBurst = 1, 2
	})
	for _, c := range []struct {
		key, body string
		status    int
		header    string
	}{
		{"unknown", "", 401, "WWW-Authenticate"},
		{"read", strings.Repeat(" ", 1<<20+1), 413, ""},
		{"read", "", 404, ""},
		{"read", "", 429, "Retry-After"},
	} {
		w := f.through(c.body, "X-API-Key", c.key)
		if w.Code != c.status || !strings.HasPrefix(w.Body.String(), "own: ") {
			t.Errorf("%d: %d %s", c.status, w.Code, w.Body)
		}
		if c.header != "" && w.Header().Get(c.header) == "" {
			t.Errorf("%d without %s: %v", c.status, c.header, w.Header())
		}
	}
}
