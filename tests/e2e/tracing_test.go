package e2e

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	"go.opentelemetry.io/proto/otlp/trace/v1"

	"hippocampus/internal/llm/llmtest"
)

// attribute returns the text or number of an attribute; nil: there is no such attribute.
func attribute(list []*commonv1.KeyValue, key string) any {
	for _, a := range list {
		if a.Key == key {
			if text, ok := a.Value.Value.(*commonv1.AnyValue_StringValue); ok {
				return text.StringValue
			}
			return a.Value.GetIntValue()
		}
	}
	return nil
}

func wantAttributes(t *testing.T, s *v1.Span, want map[string]any) {
	t.Helper()
	for key, value := range want {
		if got := attribute(s.Attributes, key); got != value {
			t.Errorf("%s: %s is %v, want %v", s.Name, key, got, value)
		}
	}
}

// tracedModel is a scripted model that notes the traceparent headers of its calls.
func tracedModel(t *testing.T) (base string, model *llmtest.Server, parents func() string) {
	model = llmtest.New(t)
	target, err := url.Parse(strings.TrimSuffix(model.URL(), "/v1"))
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	var mu sync.Mutex
	var seen []string
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen = append(seen, r.Header.Get("Traceparent"))
		mu.Unlock()
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return front.URL + "/v1", model, func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(seen, " ")
	}
}

// asked sends a request within a span of a caller.
func (s *server) asked(path, body, trace string) {
	s.t.Helper()
	request, err := http.NewRequest(http.MethodPost, s.address()+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+s.key)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Traceparent", "00-"+trace+"-00f067aa0ba902b7-01")
	response, err := httpClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusMultipleChoices {
		text, _ := io.ReadAll(response.Body)
		s.t.Fatalf("%s: %s %s", path, response.Status, text)
	}
}

// wantExemplar fails unless the durations of the recall have its trace, for scrapers that ask for OpenMetrics alone.
func wantExemplar(s *server) {
	s.t.Helper()
	exemplar := `# {trace_id="` + recallTrace + `"}`
	request, err := http.NewRequest(http.MethodGet, s.address()+"/metrics", http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	response, err := httpClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	shown, err := io.ReadAll(response.Body)
	for _, line := range []string{
		`hippocampus_http_request_duration_seconds_bucket\{code="200",method="POST",url="/v1/recall",.*`,
		`hippocampus_recall_stage_duration_seconds_bucket\{stage="search",.*`,
	} {
		if !regexp.MustCompile(line + regexp.QuoteMeta(exemplar)).Match(shown) {
			s.t.Errorf("/metrics has no %s with %s: %v", line, exemplar, err)
		}
	}
	if plain := s.call("GET", "/metrics", nil, 200).raw; strings.Contains(plain, "trace_id") {
		s.t.Error("the format without exemplars has a trace")
	}
}

const (
	turnTrace   = "4bf92f3577b34da6a3ce929d0e0e4736"
	recallTrace = "5cf92f3577b34da6a3ce929d0e0e4737"
	proxyTrace  = "7e192f3577b34da6a3ce929d0e0e4739"
	verifyTrace = "6df92f3577b34da6a3ce929d0e0e4738"
)

// A turn and a recall each have a trace, from the caller's span down to the stores and the model. No span holds what
// a user wrote, or who the user is.
func TestTraces_ShowATurnAndARecall(t *testing.T) {
	onMainSizes(t, func(t *testing.T, size size) {
		received := newCollector(t)
		base, model, parents := tracedModel(t)
		model.OnChat(func(r llmtest.ChatRequest) llmtest.Reply {
			return llmtest.TextWithUsage(llmtest.RulesText(r), object{"prompt_tokens": 900, "completion_tokens": 50})
		})
		s := start(t, append(size.settings(t), "OTEL_EXPORTER_OTLP_ENDPOINT="+received.http.URL,
			"HIPPOCAMPUS_LOG_FORMAT=json", "OTEL_BSP_SCHEDULE_DELAY=100", "DEEPSEEK_API_KEY=key", "DEEPSEEK_API_BASE="+base,
			"HIPPOCAMPUS_PROXY_UPSTREAM="+base)...)
		s.asked("/v1/turns", `{"user_id":"zuleika","conversation_id":"balcony","wait":true,"metadata":{"mood":"jubilant"},
			"messages":[{"role":"user","content":"I moved to Bergen because I keep a quokka."}]}`, turnTrace)
		s.asked("/v1/recall", `{"user_id":"zuleika","query":"Which quokka is kept?"}`, recallTrace)
		wantExemplar(s)
		s.call("POST", "/v1/recall", object{"user_id": "zuleika", "query": "Which quokka is kept?",
			"filter": object{"metadata": object{"mood": "jubilant"}}}, 200)
		s.call("GET", "/v1/memories?user_id=zuleika", nil, 200)
		s.call("GET", "/v1/users/zuleika", nil, 200, 404, 405)
		asked := `{"model":"any","messages":[{"role":"user","content":"A quokka?"}]}`
		s.asked("/proxy/v1/chat/completions", asked, proxyTrace)
		s.asked("/v1/admin/verify", "{}", verifyTrace)
		eventually(t, "the job's trace", func() string {
			if len(received.named("", "job verification")) == 0 {
				return "the spans are:\n" + received.tree()
			}
			return ""
		})
		s.stop()

		request := received.one(turnTrace, "POST /v1/turns")
		if hex.EncodeToString(request.ParentSpanId) != "00f067aa0ba902b7" || request.Kind != v1.Span_SPAN_KIND_SERVER {
			t.Errorf("the request: %v", request)
		}
		wantAttributes(t, request, map[string]any{
			"http.route": "/v1/turns", "http.request.method": "POST", "http.response.status_code": int64(200),
		})
		turn := received.one("", "turn")
		if len(turn.ParentSpanId) > 0 || len(turn.Links) != 1 || hex.EncodeToString(turn.Links[0].TraceId) != turnTrace {
			t.Errorf("the turn: %v", turn)
		}
		for _, stage := range []string{"ingest.score", "ingest.embed", "ingest.write"} {
			received.wantChild(turn, stage)
		}
		chat := received.wantChild(received.wantChild(turn, "ingest.score"), "chat deepseek-chat")
		wantAttributes(t, chat, map[string]any{
			"gen_ai.operation.name": "chat", "gen_ai.request.model": "deepseek-chat", "hippocampus.prompt": "score",
			"gen_ai.usage.input_tokens": int64(900), "server.address": "127.0.0.1",
		})
		for _, asking := range []*v1.Span{chat, received.one(proxyTrace, "proxy upstream")} {
			parent := "00-" + hex.EncodeToString(asking.TraceId) + "-" + hex.EncodeToString(asking.SpanId) + "-01"
			if !strings.Contains(parents(), parent) {
				t.Errorf("the model was asked by %s, not by %s", parents(), parent)
			}
		}
		recalled := received.wantChild(received.one(recallTrace, "POST /v1/recall"), "recall")
		for _, stage := range []string{"route", "embed", "load", "search", "candidates", "fuse", "rank", "hydrate"} {
			received.wantChild(recalled, "recall."+stage)
		}
		received.wantChild(received.wantChild(recalled, "recall.hydrate"), "SELECT")
		switch size.name {
		case "sqlite":
			wantAttributes(t, received.wantChild(received.wantChild(turn, "ingest.write"), "COMMIT"),
				map[string]any{"db.system.name": "sqlite"})
		case "postgres+milvus":
			wantAttributes(t, received.wantChild(received.named("", "push")[0], "milvus Insert"),
				map[string]any{"rpc.method": "milvus.proto.milvus.MilvusService/Insert"})
			fallthrough
		default:
			wantAttributes(t, received.wantChild(received.wantChild(turn, "ingest.write"), "INSERT"),
				map[string]any{"db.system.name": "postgresql"})
		}
		job := received.named("", "job verification")[0]
		if len(job.Links) != 1 || hex.EncodeToString(job.Links[0].TraceId) != verifyTrace {
			t.Errorf("the job has the links %v", job.Links)
		}
		received.wantNo("quokka", "zuleika", "balcony", "jubilant", adminKey)
		if len(received.named("", "GET /v1/memories")) != 1 {
			t.Errorf("no span of GET /v1/memories:\n%s", received.tree())
		}
		line := `"route":"/v1/recall","status":200,.*"request_id":"[^"]+","trace_id":"` + recallTrace + `","span_id":"\w+"`
		if !regexp.MustCompile(line).MatchString(s.printed()) {
			t.Errorf("the log has no line with %s", line)
		}
	})
}
