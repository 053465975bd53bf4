package proxy

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hippocampus/internal/memory"
)

// A message that the API would refuse does not deprive later requests of memory.
func TestRead_KeepsOddMessagesAway(t *testing.T) {
	t.Parallel()
	const last = `{"role":"user","content":"Where do I live?"}`
	type said = map[string]any
	for name, test := range map[string]struct {
		old     string
		present []string
		said    []said // before the last
	}{
		"an unknown role":           {`{"role":"king","content":"a"}`, []string{"a"}, nil},
		"a role of another form":    {`{"role":7,"content":"a"}`, nil, nil},
		"a content of another form": {`{"role":"user","content":{"a":1}}`, nil, nil},
		"no object":                 {`7`, nil, nil},
		"the assistant in another form": {
			`{"role":"user","content":"a"},{"role":"assistant","content":7}`, []string{"a"}, nil,
		},
		"a NUL": {
			`{"role":"user","content":"a\u0000b"}`, []string{"a\uFFFDb"}, []said{{"role": "user", "content": "a\uFFFDb"}},
		},
		"an empty text": {
			`{"role":"user","content":[{"type":"text","text":""},{"type":"input_audio"}]}`, nil,
			[]said{{"role": "user", "content": []any{said{"type": "input_audio"}}}},
		},
		"a part of an odd type": {`{"role":"user","content":[{"type":"a b"},{"type":"text","text":"a"}]}`, []string{"a"},
			[]said{{"role": "user", "content": "a"}}},
		"odd names": {
			`{"role":"user","name":"a\nb","content":"a"},{"role":"tool","tool_call_id":"` + strings.Repeat("i", 257) +
				`","content":"b"}`, []string{"a", "b"},
			[]said{{"role": "user", "content": "a"}, {"role": "tool", "content": "b"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for path, shape := range map[string]shape{"messages": chat{}, "input": responses{}} {
				if path == "input" && strings.Contains(test.old, `"tool"`) {
					continue // the Responses API has items instead
				}
				r, err := shape.read([]byte(`{"` + path + `":[` + test.old + `,` + last + `]}`))
				if err != nil {
					t.Fatal(err)
				}
				raw, err := json.Marshal(r.said)
				if err != nil {
					t.Fatal(err)
				}
				var got []said
				if err := json.Unmarshal(raw, &got); err != nil {
					t.Fatal(err)
				}
				want := append(append([]said{}, test.said...), said{"role": "user", "content": "Where do I live?"})
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: %s", path, diff)
				}
				if diff := cmp.Diff(append(test.present[:len(test.present):len(test.present)], "Where do I live?"),
					r.present); diff != "" || r.query != "Where do I live?" || r.goesOn {
					t.Errorf("%s: %s, query %q", path, diff, r.query)
				}
			}
		})
	}
}

// What is read of a long chat is within the limits of one request of the API.
func TestRead_BoundsLongChats(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("界", 40_000)
	body := `{"messages":[` + strings.Repeat(`{"role":"user","content":"`+long+`"},`, 120) +
		`{"role":"user","content":"now"}]}`
	r, err := chat{}.read([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, list := range map[string]any{"present": r.present, "said": r.said} {
		raw, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		if len(raw) > 600<<10 || !strings.Contains(string(raw), `now"`) || !strings.Contains(string(raw), "界") {
			t.Errorf("%s has %d bytes", name, len(raw))
		}
	}
	m := message{Role: "assistant", ToolCalls: make([]toolCall, 200)}
	for i := range m.ToolCalls {
		m.ToolCalls[i].Function.Arguments = strings.Repeat("x", 1000)
	}
	m = m.admitted()
	raw, err := json.Marshal(m)
	if err != nil || len(m.ToolCalls) != mostCalls || memory.CheckRawMessage(raw) != "" {
		t.Errorf("%d calls, %d bytes, %v", len(m.ToolCalls), len(raw), err)
	}
}

func TestResponses_OnlyAWholeAnswerEndsIt(t *testing.T) {
	t.Parallel()
	const output = `"output":[{"type":"message","content":"In Lisbon."}]`
	for data, want := range map[string]bool{
		`{"status":"completed",` + output + `}`:                                            true,
		`{"status":"incomplete",` + output + `}`:                                           true,
		`{"status":"queued",` + output + `}`:                                               false,
		`{"type":"response.completed","response":{` + output + `}}`:                        true,
		`{"type":"response.output_item.done","status":"incomplete",` + output + `}`:        false,
		`{"type":"response.in_progress","response":{"status":"completed",` + output + `}}`: false,
	} {
		a := responses{}.newAnswer()
		a.event([]byte(data))
		if _, whole := a.message(); whole != want {
			t.Errorf("%s: whole is %t", data, whole)
		}
	}
}

// Reading the messages of a request takes bounded work: a request with too many messages passes without memory.
func TestRead_LeavesRequestsOfManyMessages(t *testing.T) {
	t.Parallel()
	const last = `{"role":"user","content":"Where do I live?"}`
	for path, shape := range map[string]shape{"messages": chat{}, "input": responses{}} {
		for others, read := range map[int]bool{mostItems - 1: true, mostItems: false} {
			_, err := shape.read([]byte(`{"` + path + `":[` + strings.Repeat(last+",", others) + last + `]}`))
			if (err == nil) != read {
				t.Errorf("%d %s: %v", others+1, path, err)
			}
		}
	}
}
