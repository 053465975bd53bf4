package llm_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// A call decides the state of its endpoint. A probe decides it only where a call
// got no answer, or where probes are refused for a wrong key as calls are.
func TestHealth_FollowsCallsAndProbes(t *testing.T) {
	t.Parallel()
	const refused = 0 // the connection
	type step struct {
		probe  bool
		status int
		want   memory.Kind // "": the endpoint works
	}
	call := func(status int, want memory.Kind) step { return step{false, status, want} }
	probe := func(status int, want memory.Kind) step { return step{true, status, want} }
	for name, steps := range map[string][]step{
		"calls": {
			call(200, ""), call(503, memory.KindUnavailable), call(200, ""), call(401, memory.KindUnauthorized),
			call(400, ""), call(404, memory.KindUnavailable), call(402, memory.KindUnavailable),
			call(429, memory.KindUnavailable), call(422, ""), call(refused, memory.KindUnavailable), call(200, ""),
		},
		"probes before the first call": {
			probe(refused, memory.KindUnavailable), probe(500, memory.KindUnavailable),
			probe(401, memory.KindUnauthorized), probe(200, ""),
		},
		"refusals in a row": {
			call(400, ""), call(422, ""), call(200, ""), call(400, ""), call(400, ""), call(400, memory.KindUnavailable),
			probe(200, memory.KindUnavailable), call(422, memory.KindUnavailable), call(200, ""), call(400, ""),
		},
		"no list of models":               {probe(404, "")},
		"probe after a cut":               {call(refused, memory.KindUnavailable), probe(200, "")},
		"probe knows less than a failure": {call(404, memory.KindUnavailable), probe(200, memory.KindUnavailable)},
		"probe that ignores the key":      {call(401, memory.KindUnauthorized), probe(200, memory.KindUnauthorized)},
		"probe that needs the key": {
			call(403, memory.KindUnauthorized), probe(401, memory.KindUnauthorized), probe(200, ""),
		},
		"call after such a probe": {
			probe(401, memory.KindUnauthorized), call(401, memory.KindUnauthorized), probe(200, ""),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var status atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				switch code := int(status.Load()); code {
				case refused:
					panic(http.ErrAbortHandler)
				case 200:
					_, _ = w.Write([]byte(`{"choices":[{"message":{"content":"{}"}}],"data":[]}`))
				default:
					w.WriteHeader(code)
				}
			}))
			t.Cleanup(server.Close)
			health := llm.NewHealth()
			client := llm.NewClient(llm.Options{BaseURL: server.URL, Retries: -1, BreakerFailures: 1000, Health: health})
			t.Cleanup(client.Close)
			if !memory.IsKind(health.Err(), memory.KindUnavailable) {
				t.Errorf("before the first call: %v", health.Err())
			}
			for i, step := range steps {
				status.Store(int64(step.status))
				if step.probe {
					client.Probe(t.Context())
				} else {
					_, _ = client.Chat("m").Answer(t.Context(), llm.Prompt{User: "x"})
				}
				err := health.Err()
				if (err == nil) != (step.want == "") || err != nil && memory.KindOf(err) != step.want {
					t.Errorf("step %d, status %d: %v, want kind %q", i, step.status, err, step.want)
				}
			}
		})
	}
}

// An endpoint that refuses every request is unavailable, and the error has its words. Refusals of texts that are too
// long do not count.
func TestHealth_StatesRefusalsOfAllRequests(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	health := llm.NewHealth()
	chat := dial(t, server.URL(), func(o *llm.Options) { o.Health = health }).Chat("m")
	for words, want := range map[string]memory.Reason{
		"this model is retired":                               memory.ReasonRequest,
		"This model's maximum context length is 4096 tokens.": "",
	} {
		server.OnChat(func(llmtest.ChatRequest) llmtest.Reply {
			return llmtest.JSON(map[string]any{"error": words}).As(http.StatusBadRequest)
		})
		for range 5 {
			if _, err := chat.Answer(t.Context(), llm.Prompt{}); llm.CauseOf(err) != llm.CauseRequest {
				t.Error(err)
			}
		}
		err := health.Err()
		if memory.ReasonOf(err) != want || want != "" && !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", words, err)
		}
		server.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Text("{}") })
		if _, err := chat.Answer(t.Context(), llm.Prompt{}); err != nil || health.Err() != nil {
			t.Errorf("%v, %v", err, health.Err())
		}
	}
}
