package e2e

import (
	"net/url"
	"strings"
	"testing"

	"hippocampus/db/postgres/postgrestest"
)

// Without the database every answer is 503 with Retry-After, and no accepted turn is
// lost.
func TestDatabase_OutageIsReported(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(postgrestest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	proxy := newProxy(t, address.Host)
	address.Host = proxy.Listen
	s := start(t, "DATABASE_URL="+address.String())
	s.call("POST", "/v1/turns", turn("ada", "I work as a marine biologist in Lisbon."), 200)
	s.call("POST", "/v1/recall", object{"user_id": "ada", "query": "Where does Ada work?"}, 200)

	cut(t, proxy)
	for path, body := range map[string]object{
		"/v1/recall":   {"user_id": "ada", "query": "Where does Ada work?"},
		"/v1/context":  {"user_id": "ada", "query": "Where does Ada work?"},
		"/v1/memories": {"user_id": "ada", "content": "x"},
		"/v1/turns":    turn("ada", "I like skiing."),
	} {
		r := s.call("POST", path, body, 503)
		if r.header.Get("Retry-After") == "" || !strings.HasPrefix(r.header.Get("Content-Type"), "application/problem+json") {
			t.Errorf("%s: %v %s", path, r.header, r.raw)
		}
	}
	if r := s.call("GET", "/readyz", nil, 503); !strings.Contains(r.raw, "database") {
		t.Errorf("readiness %s", r.raw)
	}
	s.call("GET", "/healthz", nil, 200)

	reconnect(t, proxy)
	eventually(t, "recall answering again", func() string {
		r, err := s.try("POST", "/v1/recall", object{"user_id": "ada", "query": "Where does Ada work?"})
		if err != nil || r.status != 200 || len(r.list("memories")) != 1 {
			return r.raw
		}
		return ""
	})
	s.call("POST", "/v1/turns", turn("ada", "I love skiing in the Alps."), 200)
}

// A key that sends too many requests gets 429 with Retry-After; another key is not limited.
func TestRateLimit_SlowsOneKey(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, append(size.settings(t), "HIPPOCAMPUS_API_RATE_LIMIT=0.01")...)
		other := s.createKey("--role", "read")
		s.call("GET", "/v1/stats", nil, 200)
		if r := s.call("GET", "/v1/stats", nil, 429); r.header.Get("Retry-After") == "" {
			t.Errorf("no Retry-After: %v", r.header)
		}
		s.key = other
		s.call("GET", "/v1/stats", nil, 200)
	})
}
