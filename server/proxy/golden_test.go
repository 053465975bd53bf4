package proxy

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// answerOf makes the upstream answer with a status, a body, and headers that are NAME and VALUE in turn.
func answerOf(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Add(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

const (
	kind, jsonType, events = "Content-Type", "application/json", "text/event-stream"

	calls = `data: {"choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"t1",` +
		`"type":"function","function":{"name":"weather","arguments":""}}]}}]}` + "\n\n" +
		`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\": \"Li"}}]}}]}` +
		"\n\n" + `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"sbon\"}"}}]}}]}` +
		"\n\n" + `data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n"

	scored = `{"choices":[{"index":0,"message":{"role":"assistant","content":"{\"city\":\"Lisbon\"}"},` +
		`"logprobs":{"content":[{"token":"{\"","logprob":-1e-05,"bytes":[123,34],"top_logprobs":[]}]},` +
		`"finish_reason":"stop"}],"usage":{"completion_tokens_details":{"reasoning_tokens":64}}}`

	refusal = `{"choices":[{"index":0,"message":{"role":"assistant","content":null,"refusal":"No."},` +
		`"finish_reason":"stop"}]}`
	limited = `{"error":{"message":"slow down","type":"requests","param":null,"code":"rate_limit_exceeded"}}`
)

// With memory on, a call differs from a direct one in exactly one message of the request, whatever the model answers.
func TestProxy_DiffersFromADirectCallInOneMessage(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]http.HandlerFunc{
		"a whole answer":        answerOf(200, whole, kind, jsonType, "X-Request-Id", "req-7", "Openai-Version", "1"),
		"logprobs of a schema":  answerOf(200, scored, kind, jsonType),
		"a stream":              answerOf(200, stream, kind, events),
		"streamed tool calls":   answerOf(200, calls, kind, events),
		"a refusal":             answerOf(200, refusal, kind, jsonType),
		"a limit":               answerOf(429, limited, kind, jsonType, "Retry-After", "7", "X-Ratelimit-Limit-Tokens", "0"),
		"a page of a gateway":   answerOf(502, "<html>\xff", kind, "text/html"),
		"an error in a stream":  answerOf(200, `data: {"error":{"message":"overloaded"}}`+"\n\n", kind, events),
		"an answer of no words": answerOf(204, ""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, nil)
			f.script = script
			direct, want := f.send(f.direct(t)+"/chat/completions", odd, headerUser, "ana")
			asked := f.lastSent().body
			proxied, got := f.post("chat/completions", odd, headerUser, "ana")
			if proxied.StatusCode != direct.StatusCode || got != want {
				t.Errorf("%d %q instead of %d %q", proxied.StatusCode, got, direct.StatusCode, want)
			}
			for name, values := range direct.Header {
				if name != "Date" && !slices.Equal(proxied.Header[name], values) {
					t.Errorf("%s is %q instead of %q", name, proxied.Header[name], values)
				}
			}
			if asked != odd || strings.Replace(f.lastSent().body, injected(t), "", 1) != odd || f.lastSent().body == odd {
				t.Errorf("the model got\n%s\nand directly\n%s", f.lastSent().body, asked)
			}
		})
	}
}
