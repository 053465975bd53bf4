package app

import (
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

func (s *instance) wantMetrics(lines ...string) {
	s.t.Helper()
	shown := s.get("/metrics")
	for _, line := range lines {
		if !strings.Contains(shown, line+"\n") {
			s.t.Errorf("the metrics lack %s", line)
		}
	}
}

func TestMetrics_CountWhatBecameOfTurnsAndAnswers(t *testing.T) {
	cfg := devConfig(t)
	models := llmtest.New(t)
	models.Facts("bees",
		llmtest.Fact{Fact: "Keeps bees", Importance: 0.9, Domain: memory.Lifestyle},
		llmtest.Fact{Fact: "Is busy today", Importance: 0.2, Domain: memory.Lifestyle})
	models.OnPrompt(llmtest.RouteMark, func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Hang() })
	cfg.Chat.APIKey = "key"
	cfg.Chat.BaseURL = models.URL()
	cfg.Router.Timeout = 10 * time.Millisecond
	s := start(t, cfg)
	defer s.stop()
	s.wantMetrics(`hippocampus_turns_total{outcome="processed"} 0`, `hippocampus_turns_total{outcome="failed"} 0`,
		`hippocampus_degraded_total{part="router"} 0`, `hippocampus_requests_refused_total{limit="jobs.max_lag"} 0`)
	s.post("/v1/turns", `{"user_id":"ada","wait":true,"messages":[{"role":"user","content":"I keep bees"}]}`)
	s.post("/v1/recall", `{"user_id":"ada","query":"Which animals does she keep?"}`)
	s.post("/v1/context", `{"user_id":"ada","query":"Which animals does she like?"}`)
	s.wantMetrics(`hippocampus_turns_total{outcome="processed"} 1`, `hippocampus_turns_total{outcome="deferred"} 0`,
		`hippocampus_candidates_total{verdict="kept"} 1`, `hippocampus_candidates_total{verdict="below_threshold"} 1`,
		`hippocampus_degraded_total{part="router"} 2`, `hippocampus_degraded_total{part="vector_store"} 0`,
		`hippocampus_turns_lag_seconds 0`, `hippocampus_vectors_waiting{older_than="10m"} 0`)
}

func TestMetrics_HaveAnAddressOfTheirOwn(t *testing.T) {
	cfg := devConfig(t)
	cfg.Metrics.Listen = "127.0.0.1:0"
	s := start(t, cfg)
	defer s.stop()
	for _, path := range []string{"/metrics", "/openapi.yaml"} {
		answer, err := s.client.Get(s.url + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusNotFound {
			t.Errorf("the API answers %s with %d", path, answer.StatusCode)
		}
	}
	s.get("/healthz")
	// The documentation stays with the API, with the documents that the reference loads.
	if page := s.get("/docs/runbooks"); !strings.Contains(page, `id="hippocampusabsent"`) {
		t.Errorf("/docs/runbooks is %.80s", page)
	}
	if page := s.get("/docs/api/"); !strings.Contains(page, `data-base="../"`) {
		t.Errorf("/docs/api/ is %.80s", page)
	}
	if text := s.get("/docs/openapi.yaml"); !strings.HasPrefix(text, "openapi: 3") {
		t.Errorf("/docs/openapi.yaml is %.80s", text)
	}
	api := s.url
	defer func() { s.url = api }()
	s.url = regexp.MustCompile(`metrics +(http://[^/]+)`).FindStringSubmatch(s.out.String())[1]
	s.wantMetrics(`hippocampus_turns_total{outcome="failed"} 0`)
	if text := s.get("/openapi.yaml"); !strings.HasPrefix(text, "openapi: 3") {
		t.Errorf("%.80s", text)
	}
	answer, err := s.client.Get(s.url + "/v1/stats")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusNotFound {
		t.Errorf("the address of the metrics answers /v1/stats with %d", answer.StatusCode)
	}
}

func TestMetrics_ATakenAddressIsNamed(t *testing.T) {
	cfg := devConfig(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	cfg.Metrics.Listen = taken.Addr().String()
	err = Run(t.Context(), cfg, Host{Out: io.Discard, Err: io.Discard, Now: time.Now})
	if err == nil || !strings.Contains(err.Error(), "metrics.listen") {
		t.Errorf("%v", err)
	}
}
