package proxy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestResponses_ExtendsTheInstructions(t *testing.T) {
	t.Parallel()
	own := quoted(remembered)
	added := strings.TrimPrefix(own, `"`)
	for name, test := range map[string]struct{ sent, want string }{
		"none":  {`{"input":"hi","store":false}`, `{"input":"hi","instructions":` + own + `,"store":false}`},
		"null":  {`{"instructions":null, "input":"hi"}`, `{"instructions":` + own + `, "input":"hi"}`},
		"empty": {`{"instructions":"","input":"hi"}`, `{"instructions":` + own + `,"input":"hi"}`},
		"a format": {
			`{"text":{"format":{"type":"json_schema","name":"c","schema":{ "type":"object" }}},"input":"hi"}`,
			`{"text":{"format":{"type":"json_schema","name":"c","schema":{ "type":"object" }}},"input":"hi","instructions":` +
				own + `}`,
		},
		"some": {
			`{"instructions":"Be \u0062rief.","input":[{"role":"user","content":[{"type":"input_text","text":"hi"}]}]}`,
			`{"instructions":"Be \u0062rief.\n\n` + added +
				`,"input":[{"role":"user","content":[{"type":"input_text","text":"hi"}]}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, nil)
			f.answers("application/json", `{"status":"completed","output":[]}`)
			f.post("responses", test.sent, headerUser, "ana")
			if got := f.lastSent().body; got != test.want {
				t.Errorf("the upstream got\n%s\ninstead of\n%s", got, test.want)
			}
			if len(f.contexts) != 1 || f.contexts[0]["query"] != "hi" {
				t.Errorf("contexts: %v", f.contexts)
			}
		})
	}
}

func TestResponses_AreRemembered(t *testing.T) {
	t.Parallel()
	const output = `"output":[{"type":"reasoning","summary":[]},{"type":"message","role":"assistant","content":` +
		`[{"type":"output_text","text":"In Lisbon."}]},{"type":"function_call","call_id":"f1","name":"map","arguments":"{}"}]`
	const asked = `{"input":[{"role":"user","content":"Where do I live?"},` +
		`{"type":"function_call","call_id":"f0","name":"x","arguments":"{}"},` +
		`{"type":"function_call_output","call_id":"f0","output":"41 N"}]}`
	for name, test := range map[string]struct{ contentType, answer string }{
		"whole": {"application/json", `{"id":"r1","status":"completed",` + output + `}`},
		"stream": {"text/event-stream", "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{}}\n\n" +
			"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"," +
			output + "}}\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, nil)
			f.answers(test.contentType, test.answer)
			if _, got := f.post("responses", asked, headerUser, "ana"); got != test.answer {
				t.Errorf("the client got %s", got)
			}
			want := []any{
				map[string]any{"role": "tool", "content": "41 N", "tool_call_id": "f0"},
				map[string]any{"role": "assistant", "content": "In Lisbon.", "tool_calls": []any{map[string]any{
					"id": "f1", "type": "function", "function": map[string]any{"name": "map", "arguments": "{}"},
				}}},
			}
			if len(f.turns) != 1 {
				t.Fatalf("turns: %v", f.turns)
			}
			if diff := cmp.Diff(want, f.turns[0]["messages"]); diff != "" {
				t.Error(diff)
			}
		})
	}
}
