package deploy

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
	"hippocampus/server/app"
	"hippocampus/server/config"
)

// metrics returns what /metrics shows of a server that has used all of its parts. The tests share one server.
func metrics(t *testing.T) string {
	t.Helper()
	shown, _ := shownByServer(t)
	return shown
}

// shownByServer returns what the server shows at /metrics, and at the address of each runbook.
func shownByServer(t *testing.T) (metrics string, runbooks map[string]string) {
	t.Helper()
	usedOnce.Do(func() { usedMetrics, usedRunbooks = use(t) })
	if usedMetrics == "" {
		t.Fatal("the server did not show its metrics; another test has the reason")
	}
	return usedMetrics, usedRunbooks
}

var (
	usedOnce     sync.Once
	usedMetrics  string
	usedRunbooks map[string]string
)

// printed collects the output of a server while it runs.
type printed struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *printed) find(pattern *regexp.Regexp) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if found := pattern.FindStringSubmatch(p.text.String()); found != nil {
		return found[1]
	}
	return ""
}

var listening = regexp.MustCompile(`listening on (http://\S+)`)

const longest = 5 * time.Minute

// use runs a server on SQLite with scripted models and sends it requests of each kind. It returns the metrics, and the
// pages of the runbooks by their runbook_url.
func use(t *testing.T) (metrics string, runbooks map[string]string) {
	t.Helper()
	models := llmtest.New(t)
	models.Facts("bees", llmtest.Fact{Fact: "Keeps bees", Importance: 0.9, Domain: memory.Lifestyle})
	models.OnChat(func(r llmtest.ChatRequest) llmtest.Reply {
		if strings.Contains(r.User, "wasps") {
			return llmtest.Status(http.StatusBadRequest)
		}
		return models.Scripted(r)
	})
	cfg := config.Default()
	cfg.Listen, cfg.Data, cfg.Dev = "127.0.0.1:0", t.TempDir(), true
	cfg.Chat.APIKey, cfg.Chat.BaseURL = "key", models.URL()
	cfg.Rerank.BaseURL, cfg.Rerank.Model = models.URL(), "reranker"
	var out printed
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- app.Run(ctx, cfg, app.Host{Out: &out, Err: io.Discard, Now: time.Now}) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	}()
	base := ""
	until(t, "the server listens", func() bool { base = out.find(listening); return base != "" })
	call := func(method, path, body string) string {
		request, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode >= http.StatusBadRequest {
			t.Fatalf("%s %s: %s %s %v", method, path, response.Status, text, err)
		}
		return string(text)
	}
	defer http.DefaultClient.CloseIdleConnections()
	call("POST", "/v1/turns", `{"user_id":"ada","conversation_id":"first","wait":true,
		"messages":[{"role":"user","content":"I keep bees"},{"role":"assistant","content":"How many hives?"},
		{"role":"user","content":"Three hives of bees"}]}`)
	call("POST", "/v1/recall", `{"user_id":"ada","query":"bees"}`)
	call("POST", "/v1/recall", `{"user_id":"ada","query":"wasps"}`) // its call of the router fails
	call("POST", "/v1/context", `{"user_id":"ada","query":"bees"}`)
	call("POST", "/v1/conversations/first/end", `{"user_id":"ada"}`)
	call("POST", "/v1/admin/verify", `{}`)
	runbooks = map[string]string{}
	for _, r := range rules(t) {
		link := r.Annotations["runbook_url"]
		path, _, _ := strings.Cut(strings.TrimPrefix(link, serverAddress), "#")
		runbooks[link] = call("GET", path, "")
	}
	until(t, "the stores are verified, the conversation is consolidated and a call of a model has failed", func() bool {
		metrics = call("GET", "/metrics", "")
		return strings.Contains(metrics, "\nhippocampus_prompt_failures_total{") &&
			strings.Contains(metrics, "\nhippocampus_vectors_drift{") &&
			strings.Contains(metrics, "\nhippocampus_consolidations_total{")
	})
	return metrics, runbooks
}

func until(t *testing.T, what string, isTrue func() bool) {
	t.Helper()
	for deadline := time.Now().Add(longest); !isTrue(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it did not come about that %s", what)
		}
	}
}
