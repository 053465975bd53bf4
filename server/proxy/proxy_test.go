package proxy

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	// odd has details that a typed round trip would change: spacing, key order, number spellings, unknown fields, escapes.
	odd = "{ \"model\":\"gpt-4o\", \"temperature\":1.0, \"seed\": 12345678901234567890, " +
		"\"x_new\":{\"b\":1e2,\"a\":[ ]},\n" +
		"  \"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{}}}],\n" +
		"  \"messages\": [ {\"role\":\"system\",\"content\":\"Be \\u0062rief.\"} , " +
		"{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Where do I live?\"}," +
		"{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,AAAA\"}}]}],\"logprobs\":true,\n" +
		"  \"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"city\",\"strict\":true ,\"schema\":{" +
		"\"type\":\"object\",\"properties\":{\"city\":{\"type\":[\"string\", \"null\"]}}}}} }"

	whole = `{"id":"c1","choices":[{"index":0,"message":{"role":"assistant","content":"In Lisbon."},` +
		`"logprobs":{"content":[]},"finish_reason":"stop"}],"usage":{"total_tokens":9}}`

	stream = ": a comment\n\n" +
		`data: {"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}` + "\n\n" +
		`data: {"choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}` + "\r\n\r\n" +
		`data: {"choices":[{"index":0,"delta":{"content":"In "}},{"index":1,"delta":{"content":"other"}}]}` + "\n\n" +
		`data: {"choices":[{"index":0,"delta":{"content":"Lisbon."}}]}` + "\n\n" +
		`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n" +
		`data: {"choices":[],"usage":{"total_tokens":9}}` + "\n\n" + "data: [DONE]\n\n"
)

// injected is the message that is added to odd.
func injected(t *testing.T) string {
	t.Helper()
	return `{"role":"system","content":` + quoted(remembered) + `},`
}

func TestProxy_AddsExactlyOneMessage(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.answers("application/json", whole)
	response, got := f.post("chat/completions", odd, headerUser, "ana", headerConversation, "c-1")
	if got != whole || response.StatusCode != 200 || response.Header.Get("X-Request-Id") != "req-7" {
		t.Errorf("%d %v %s", response.StatusCode, response.Header, got)
	}
	before, after, _ := strings.Cut(odd, `{"role":"user"`)
	if want := before + injected(t) + `{"role":"user"` + after; f.lastSent().body != want {
		t.Errorf("the upstream got\n%s\ninstead of\n%s", f.lastSent().body, want)
	}
	for name, want := range map[string]string{
		headerMemory: "injected", headerMemories: "m1", headerSize: "21", headerError: "",
	} {
		if got := response.Header.Get(name); got != want {
			t.Errorf("%s is %q instead of %q", name, got, want)
		}
	}
	want := []map[string]any{{
		"user_id": "ana", "query": "Where do I live?", "max_tokens": 500.0, "condense": false, "touch": true,
		"present": []any{"Be brief.", "Where do I live?"}, "conversation_id": "c-1", "working_memory": false,
	}}
	if diff := cmp.Diff(want, f.contexts); diff != "" {
		t.Error(diff)
	}
	turn := []map[string]any{{
		"id": response.Header.Get(headerTurn), "user_id": "ana", "conversation_id": "c-1", "messages": []any{
			map[string]any{"role": "user", "content": []any{
				map[string]any{"type": "text", "text": "Where do I live?"}, map[string]any{
					"type": "image_url", "media_type": "image/png",
					"sha256": "709e80c88487a2411e1ee4dfb9f22a861492d20c4765150c0c794abd70f8147c",
				},
			}},
			map[string]any{"role": "assistant", "content": "In Lisbon."},
		},
	}}
	if diff := cmp.Diff(turn, f.turns); diff != "" {
		t.Error(diff)
	}
}

// What the user said before the last words, and the answer to it, goes along with the query.
func TestProxy_SaysWhatWasSaidBefore(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ messages, want string }{
		"answered": {`{"role":"user","content":"Where does my sister live?"},{"role":"assistant","content":"In Graz."},` +
			`{"role":"user","content":"And what does she teach?"}`, "Where does my sister live? In Graz."},
		"called a tool": {`{"role":"user","content":"Book it."},{"role":"assistant","content":null},` +
			`{"role":"tool","content":"booked"},{"role":"assistant","content":"Done."},{"role":"user","content":"When is it?"}`,
			"Book it. Done."},
		"not answered": {`{"role":"user","content":"Hm."},{"role":"user","content":"Where is it?"}`, "Hm."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, nil)
			f.answers("application/json", whole)
			f.post("chat/completions", `{"model":"m","messages":[`+test.messages+`]}`, headerUser, "ana")
			if len(f.contexts) != 1 || f.contexts[0]["previous"] != test.want {
				t.Errorf("asked for %v, want the previous text %q", f.contexts, test.want)
			}
		})
	}
}

// With memory off, and on other paths, the proxy is a plain reverse proxy.
func TestProxy_PassesBytesWithoutMemory(t *testing.T) {
	t.Parallel()
	const (
		chats, text, events = "chat/completions", "application/json", "text/event-stream"
		refused             = `{"error":{}}`
	)
	ana := []string{headerUser, "ana"}
	off := []string{headerUser, "ana", headerMemory, "OFF"}
	encoded := []string{headerUser, "ana", "Content-Encoding", "br"}
	for name, test := range map[string]struct {
		path, body, answer, contentType string
		headers                         []string
	}{
		"off":               {path: chats, body: odd, answer: whole, contentType: text, headers: off},
		"off, stream":       {path: chats, body: odd, answer: stream, contentType: events, headers: off},
		"without a user":    {path: chats, body: odd, answer: whole, contentType: text},
		"not JSON":          {path: chats, body: `{"messages":[`, answer: refused, contentType: text, headers: ana},
		"without messages":  {path: chats, body: `{"model":"m"}`, answer: refused, contentType: text, headers: ana},
		"another path":      {path: "embeddings?a=%2F&b", body: `{}`, answer: refused, contentType: text, headers: ana},
		"an encoded path":   {path: "models/org%2Fname", answer: `{"id":"org/name"}`, contentType: text},
		"responses, off":    {path: "responses", body: `{"input":"hi"}`, answer: refused, contentType: text, headers: off},
		"an encoded body":   {path: chats, body: odd, answer: whole, contentType: text, headers: encoded},
		"5 MB, streamed":    {path: chats, body: odd, answer: strings.Repeat(stream, 6000), contentType: events},
		"an unusual answer": {path: "audio/speech", body: `{}`, answer: "\x00\xff\x01", contentType: "audio/mpeg"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, nil)
			f.answers(test.contentType, test.answer)
			path, query, _ := strings.Cut(test.path, "?")
			_, want := f.send(f.direct(t)+"/"+test.path, test.body, test.headers...)
			direct := f.lastSent()
			response, got := f.post(test.path, test.body, test.headers...)
			proxied := f.lastSent()
			if got != want || got != test.answer || proxied.body != direct.body || proxied.path != direct.path {
				t.Errorf("%s?%s: answer %q, request %+v instead of %+v", path, query, got, proxied, direct)
			}
			for _, header := range []string{
				"Content-Type", "Content-Length", "Content-Encoding", "Accept-Encoding", "User-Agent",
			} {
				if !slices.Equal(proxied.header[header], direct.header[header]) {
					t.Errorf("%s is %q instead of %q", header, proxied.header[header], direct.header[header])
				}
			}
			if len(f.contexts)+len(f.turns) != 0 {
				t.Errorf("memory was asked: %v %v", f.contexts, f.turns)
			}
			if state := response.Header.Get(headerMemory); state == "injected" {
				t.Errorf("memory is %q", state)
			}
		})
	}
}

func TestProxy_RemembersStreams(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.answers("text/event-stream; charset=utf-8", stream)
	_, got := f.post("chat/completions", odd, headerUser, "ana")
	if got != stream {
		t.Errorf("the client got %q", got)
	}
	if len(f.turns) != 1 {
		t.Fatalf("turns: %v", f.turns)
	}
	messages, _ := f.turns[0]["messages"].([]any)
	want := map[string]any{"role": "assistant", "content": "In Lisbon."}
	if diff := cmp.Diff(want, messages[len(messages)-1]); diff != "" {
		t.Error(diff)
	}
}

// Requests that carry the answers of tools get the same text as the one before them.
func TestProxy_InjectsTheSameTextWhileToolsAnswer(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	const call = `{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function",` +
		`"function":{"name":"weather","arguments":"{}"}}]}`
	f.answers("application/json", `{"choices":[{"index":0,"message":`+call+`,"finish_reason":"tool_calls"}]}`)
	const asked = `{"tools":[{}],"messages":[{"role":"user","content":"Do I need a coat?"}`
	f.post("chat/completions", asked+`]}`, headerUser, "ana")
	first := f.lastSent().body
	f.answers("application/json", whole)
	f.post("chat/completions", asked+","+call+`,{"role":"tool","tool_call_id":"t1","content":"rain"}]}`, headerUser, "ana")
	second := f.lastSent().body
	if prefix := strings.TrimSuffix(first, "]}"); !strings.HasPrefix(second, prefix) {
		t.Errorf("the second request does not begin with the first: %s", second)
	}
	if len(f.contexts) != 1 {
		t.Errorf("the memory was asked %d times", len(f.contexts))
	}
	said := func(i int) []string {
		var roles []string
		for _, m := range f.turns[i]["messages"].([]any) {
			roles = append(roles, m.(map[string]any)["role"].(string))
		}
		return roles
	}
	if len(f.turns) != 2 || !slices.Equal(said(0), []string{"user", "assistant"}) ||
		!slices.Equal(said(1), []string{"tool", "assistant"}) {
		t.Errorf("turns: %v", f.turns)
	}
}

// A repeated request is the same turn; on another day or for another user it is another turn.
func TestTurnID_DependsOnTheRequest(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ana, bob := scope{App: "a", User: "ana"}, scope{App: "a", User: "bob"}
	ids := []string{
		turnID(ana, noon, []byte("x")), turnID(bob, noon, []byte("x")), turnID(ana, noon.AddDate(0, 0, 1), []byte("x")),
		turnID(ana, noon, []byte("y")),
	}
	slices.Sort(ids)
	again := turnID(ana, noon.Add(time.Hour), []byte("x"))
	if len(slices.Compact(ids)) != 4 || !slices.Contains(ids, again) {
		t.Errorf("ids %v, again %s", ids, again)
	}
}
