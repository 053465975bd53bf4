package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const chatOrigin = "https://chat.example.com"

// fromPage sends a request as the browser does for a page of an origin, and returns the answer.
func (f *fixture) fromPage(origin, method, path string, headers ...string) *http.Response {
	return f.fromHost("example.com", origin, method, path, headers...)
}

// fromHost is fromPage for a server that the browser knows by a name.
func (f *fixture) fromHost(host, origin, method, path string, headers ...string) *http.Response {
	r := httptest.NewRequestWithContext(f.t.Context(), method, path, nil)
	r.Host = host
	r.Header.Set("Origin", origin)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w.Result()
}

func TestCrossOrigin_LetsPagesOfListedOriginsCallTheAPI(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) { o.Origins = []string{"http://localhost:3000", chatOrigin} })
	asks := []string{
		"Access-Control-Request-Method", "DELETE", "Access-Control-Request-Headers", "authorization,content-type",
	}
	for origin, allowed := range map[string]string{
		chatOrigin: chatOrigin, "http://localhost:3000": "http://localhost:3000",
		"https://evil.example.com": "", "https://chat.example.com.evil.org": "", "null": "",
	} {
		preflight := f.fromPage(origin, "OPTIONS", "/v1/memories/"+someID, asks...)
		answer := f.fromPage(origin, "GET", "/v1/key", "Authorization", "Bearer read")
		refusal := f.fromPage(origin, "GET", "/v1/key")
		if preflight.StatusCode != http.StatusNoContent || answer.StatusCode != http.StatusOK ||
			refusal.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: the answers are %s, %s and %s", origin, preflight.Status, answer.Status, refusal.Status)
		}
		for name, resp := range map[string]*http.Response{"preflight": preflight, "answer": answer, "refusal": refusal} {
			if got := resp.Header.Get("Access-Control-Allow-Origin"); got != allowed {
				t.Errorf("%s: the %s allows %q, not %q", origin, name, got, allowed)
			}
			if resp.Header.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s: the %s allows cookies", origin, name)
			}
		}
		if allowed == "" {
			continue
		}
		if got := preflight.Header.Get("Access-Control-Allow-Headers"); got != "authorization,content-type" {
			t.Errorf("%s: the headers %q are allowed", origin, got)
		}
		if got := preflight.Header.Get("Access-Control-Allow-Methods"); !strings.Contains(got, "DELETE") {
			t.Errorf("%s: the methods %q are allowed", origin, got)
		}
		if got := answer.Header.Get("Access-Control-Expose-Headers"); !strings.Contains(got, "Retry-After") {
			t.Errorf("%s: the page sees the headers %q", origin, got)
		}
	}
}

func TestCrossOrigin_AllowsNoOriginByDefault(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for _, method := range []string{"OPTIONS", "GET"} {
		resp := f.fromPage(chatOrigin, method, "/v1/key",
			"Authorization", "Bearer read", "Access-Control-Request-Method", "GET")
		for name := range resp.Header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s answers with %s", method, name)
			}
		}
	}
}

// With --dev, requests need no key, and a page of any site could send one without a body.
func TestCrossOrigin_DevTakesNoChangesFromOtherOrigins(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) {
		o.Access.Dev = true
		o.Origins = []string{chatOrigin}
	})
	const change, read = "/v1/memories/" + someID + "/restore", "/v1/key"
	for _, c := range []struct {
		what, origin, site string
		allowed            bool
	}{
		{"another site", "https://evil.example.com", "cross-site", false},
		{"another site in an older browser", "https://evil.example.com", "", false},
		{"a sandboxed page", "null", "", false},
		{"a listed origin", chatOrigin, "cross-site", true},
		{"the console", "http://localhost:8080", "same-origin", true},
		{"the console in an older browser", "http://localhost:8080", "", true},
	} {
		headers := []string{"Sec-Fetch-Site", c.site}
		changed, got := f.fromHost("localhost:8080", c.origin, "POST", change, headers...), http.StatusForbidden
		if c.allowed {
			got = http.StatusNotFound
		}
		if changed.StatusCode != got {
			t.Errorf("%s: a change is answered with %s, want %d", c.what, changed.Status, got)
		}
		if answer := f.fromHost("localhost:8080", c.origin, "GET", read, headers...); answer.StatusCode != http.StatusOK {
			t.Errorf("%s: a read is answered with %s", c.what, answer.Status)
		}
	}
}
