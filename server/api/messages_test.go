package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hippocampus/internal/memory"
)

// sameJSON reports whether two texts hold equal JSON values.
func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var one, other any
	if json.Unmarshal(a, &one) != nil || json.Unmarshal(b, &other) != nil {
		t.Fatalf("%s or %s is not JSON", a, b)
	}
	return cmp.Equal(one, other)
}

const weatherCall = `"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather",` +
	`"arguments":"{\"city\":\"<Porto>\"}"}}]`

// Clients of OpenAI's API send such messages. The expected contents were written by hand.
func TestTurns_TakeMessagesOfOpenAIClients(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	shapes := []struct {
		name, message, content string
		plain                  bool
	}{
		{name: "text", message: `{"role":"user","content":"Hi"}`, content: "Hi", plain: true},
		{name: "empty text", message: `{"role":"tool","content":""}`, plain: true},
		{name: "text with null fields", plain: true, content: "Hi",
			message: `{"role":"assistant","content":"Hi","refusal":null,"tool_calls":null,"function_call":null,"audio":null,` +
				`"annotations":[],"reasoning_content":null,"tool_call_id":null}`},
		{name: "developer", message: `{"role":"developer","content":"Be brief."}`, content: "Be brief.", plain: true},
		{name: "function", message: `{"role":"function","name":"weather","content":"sunny"}`, content: "sunny", plain: true},
		{name: "call of a tool", message: `{"role":"assistant","content":null,` + weatherCall + `}`},
		{name: "call of a tool without content", message: `{"role":"assistant",` + weatherCall + `}`},
		{name: "call of a tool with a text", message: `{"role":"assistant","content":"Let me see.",` + weatherCall + `}`,
			content: "Let me see."},
		{name: "call of a function",
			message: `{"role":"assistant","content":null,"function_call":{"name":"weather","arguments":"{}"}}`},
		{name: "answer of a tool", message: `{"role":"tool","tool_call_id":"call_1","content":"sunny"}`, content: "sunny"},
		{name: "refusal", message: `{"role":"assistant","content":null,"refusal":"I cannot."}`, content: "I cannot."},
		{name: "refusal part", message: `{"role":"assistant","content":[{"type":"refusal","refusal":"Sorry."}]}`,
			content: "Sorry."},
		{name: "spoken", message: `{"role":"assistant","content":null,"audio":{"id":"a_1"}}`},
		{name: "reasoned", message: `{"role":"assistant","content":"42","reasoning_content":"6 * 7"}`, content: "42"},
		{name: "parts", content: "Where is\nthis?\n[image: https://x/a.png]\n[audio]\n[file]\n[video]\n[x.new-part]",
			message: `{"role":"user", "content":[{"type":"text","text":"Where is"},{"type":"input_text","text":"this?"},
				{"type":"image_url","image_url":{"url":"https://x/a.png","detail":"low"}},{"type":"input_audio","input_audio":{}},
				{"type":"file","file":{"file_id":"f"}},{"type":"video_url","video_url":{}},{"type":"x.new-part"}],"tags":["t"]}`},
		{name: "no parts", message: `{"role":"user","content":[]}`},
	}
	var bodies []string
	for _, shape := range shapes {
		bodies = append(bodies, shape.message)
	}
	request := `{"id":"shapes","user_id":"u","conversation_id":"c","messages":[` + strings.Join(bodies, ",") + `]}`
	f.want(202, "POST", "/v1/turns", request)
	if again := fetch[turnBody](f, 202, "POST", "/v1/turns", request); !again.Repeated {
		t.Error("the same turn is not repeated")
	}
	f.want(409, "POST", "/v1/turns", strings.Replace(request, "<Porto>", "<Faro>", 1))

	stored, err := f.store.Turn(t.Context(), "app", "shapes")
	f.must(err)
	turn := fetch[turnBody](f, 200, "GET", "/v1/turns/shapes", "")
	log := fetch[conversationAnswer](f, 200, "GET", "/v1/conversations/c", "").Turns[0]
	working := fetch[workingBody](f, 200, "GET", "/v1/conversations/c/working", "")
	for i, shape := range shapes {
		for name, got := range map[string]memory.Message{
			"stored": stored.Messages[i], "turn": turn.Messages[i], "log": log.Messages[i],
		} {
			if got.Content != shape.content || (got.Raw == nil) != shape.plain ||
				got.Raw != nil && !sameJSON(t, got.Raw, []byte(shape.message)) {
				t.Errorf("%s, %s: content %q, raw %s", shape.name, name, got.Content, got.Raw)
			}
		}
		if got := working.Events[i].Content; got != shape.content {
			t.Errorf("%s: the event is %q, want %q", shape.name, got, shape.content)
		}
	}
}

func TestTurns_RememberTheTextOfParts(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.work()
	done := fetch[turnBody](f, 200, "POST", "/v1/turns", `{"user_id":"u","wait":true,"messages":[{"role":"user","content":[
		{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}},
		{"type":"text","text":"I live in Lisbon and work as a marine biologist."}]}]}`)
	if !slices.ContainsFunc(done.Candidates, func(c candidateBody) bool {
		return c.Verdict == memory.Kept && strings.Contains(c.Content, "Lisbon") && !strings.Contains(c.Content, "base64")
	}) {
		t.Errorf("candidates %+v", done.Candidates)
	}
	found := fetch[recallBody](f, 200, "POST", "/v1/recall", `{"user_id":"u","query":"Where does the user live?"}`)
	if !slices.ContainsFunc(found.Memories, func(m recalledBody) bool { return strings.Contains(m.Content, "Lisbon") }) {
		t.Errorf("recalled %+v", found.Memories)
	}
}

func TestTurns_RefuseHostileMessages(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	long := strings.Repeat("x", memory.MaxMessageBytes)
	parts := strings.Repeat(`{"type":"text","text":""},`, 100) + `{"type":"text","text":""}`
	deep := strings.Repeat(`{"a":`, 40) + `1` + strings.Repeat(`}`, 40)
	for _, one := range []struct {
		message string
		path    string // within the message; empty: the message itself
	}{
		{`{"role":"user"}`, "content"},
		{`{"role":"user","content":null}`, "content"},
		{`{"role":"assistant","content":null,"tool_calls":[]}`, "content"},
		{`{"role":"assistant","content":null,"tool_calls":null,"refusal":""}`, "content"},
		{`{"role":"user","content":7}`, "content"},
		{`{"role":"user","content":true}`, "content"},
		{`{"role":"user","content":{"type":"text","text":"x"}}`, "content"},
		{`{"role":"user","content":"` + long + `x"}`, "content"},
		{`{"role":"user","content":["x"]}`, "content[0]"},
		{`{"role":"user","content":[null]}`, "content[0]"},
		{`{"role":"user","content":[[]]}`, "content[0]"},
		{`{"role":"user","content":[{"type":"text","text":"x"},{}]}`, "content[1].type"},
		{`{"role":"user","content":[{"type":7}]}`, "content[0].type"},
		{`{"role":"user","content":[{"type":""}]}`, "content[0].type"},
		{`{"role":"user","content":[{"type":"a\nb]"}]}`, "content[0].type"},
		{`{"role":"user","content":[{"type":"` + strings.Repeat("t", 65) + `"}]}`, "content[0].type"},
		{`{"role":"user","content":[{"type":"text"}]}`, "content[0].text"},
		{`{"role":"user","content":[{"type":"text","text":null}]}`, "content[0].text"},
		{`{"role":"user","content":[{"type":"text","text":{"value":"x"}}]}`, "content[0].text"},
		{`{"role":"user","content":[{"type":"refusal","text":"x"}]}`, "content[0].refusal"},
		{`{"role":"user","content":[` + parts + `]}`, "content"},
		{`{"role":"user","content":[{"type":"text","text":"` + long + `"},{"type":"text","text":"x"}]}`, "content"},
		{`{"role":"user","content":[{"type":"text","text":"` + long + `x"}]}`, "content[0].text"},
		{`{"role":"user","content":[{"type":"image_url","image_url":{"url":"` + strings.Repeat(long, 4) + `"}}]}`, ""},
		{`{"role":"assistant","content":"x","tool_calls":{}}`, "tool_calls"},
		{`{"role":"assistant","content":"x","tool_calls":["x"]}`, "tool_calls[0]"},
		{`{"role":"assistant","content":"x","tool_calls":[` + strings.Repeat(`{},`, 128) + `{}]}`, "tool_calls"},
		{`{"role":"assistant","content":"x","function_call":"x"}`, "function_call"},
		{`{"role":"assistant","content":"x","audio":[]}`, "audio"},
		{`{"role":"assistant","content":"x","refusal":1}`, "refusal"},
		{`{"role":"assistant","content":null,"refusal":"` + long + `x"}`, "refusal"},
		{`{"role":"tool","content":"x","tool_call_id":5}`, "tool_call_id"},
		{`{"role":"tool","content":"x","tool_call_id":"` + strings.Repeat("x", 257) + `"}`, "tool_call_id"},
		{`{"role":"robot","content":"x"}`, "role"},
		{`{"role":null,"content":"x"}`, "role"},
		{`{"role":"user","content":"x","raw":{}}`, "raw"},
		{`{"role":"user","content":"x","Content":"y"}`, "Content"},
	} {
		path := strings.TrimSuffix("messages[1]."+one.path, ".")
		f.wantPaths("POST", "/v1/turns",
			`{"user_id":"u","messages":[{"role":"user","content":"Hi"},`+one.message+`]}`, path)
	}
	for _, message := range []string{
		`{"role":"assistant","content":null,"tool_calls":[` + deep + `]}`,
		`{"role":"assistant","content":null,"tool_calls":[{"a\u0000":1}]}`,
		`{"role":"assistant","content":null,"tool_calls":[{"a":1,"a":2}]}`,
		`{"role":"assistant","content":null,"tool_calls":[{"a\ud800":1}]}`,
		`{"role":"assistant","content":null,"tool_calls":[{"a":1e999}]}`,
	} {
		f.want(400, "POST", "/v1/turns", fmt.Sprintf(`{"user_id":"u","messages":[%s]}`, message))
	}
}

// A message may have been said at another time than its turn; its event in the log has that time.
func TestTurns_MessagesHaveTheirOwnTimes(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.talk("u", "c", `{"role":"user","content":"I moved.","at":"2025-03-01T22:30:00-08:00"}`,
		`{"role":"assistant","content":"Nice."}`)
	type events struct {
		Events []struct {
			Content string
			At      time.Time
		}
	}
	got := fetch[events](f, http.StatusOK, "GET", "/v1/conversations/c/working", "")
	want := map[string]time.Time{"I moved.": time.Date(2025, 3, 2, 6, 30, 0, 0, time.UTC), "Nice.": noon}
	for _, e := range got.Events {
		if !e.At.Equal(want[e.Content]) {
			t.Errorf("%q is of %v, want %v", e.Content, e.At, want[e.Content])
		}
	}
	if len(got.Events) == 0 {
		t.Error("the working memory is empty")
	}
	for _, at := range []string{"yesterday", "2300-01-01T00:00:00Z", ""} {
		f.want(http.StatusBadRequest, "POST", "/v1/turns", fmt.Sprintf(
			`{"user_id":"u","messages":[{"role":"user","content":"x","at":%q}]}`, at))
	}
}
