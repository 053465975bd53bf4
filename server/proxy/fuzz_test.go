package proxy

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"hippocampus/internal/growthtest"
	"hippocampus/internal/memory"
)

// Any body is refused, or gets the text of the memory and no other change.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		odd, `{"input":"hi"}`, `{"input":[{"role":"user","content":"hi"}],"instructions":"Be\n brief."}`, `{"messages":[7]}`,
		`{"messages":[{"role":"tool","content":null}],"messages":[{"role":"user","content":"\ud800"}]}`, `{`, ``, `null`,
		`{"input":[{"type":"function_call_output","call_id":"f","output":[{"type":"input_text","text":"x"}]}]}`,
	} {
		f.Add("", seed)
	}
	for _, unit := range []string{`{"role":"user","content":"x"},`, `{"role":"assistant"},`, `7,`, `[`, `x`, `\u0000`} {
		f.Add(`{"messages":[`, unit)
		f.Add(`{"input":[`, unit)
		f.Add(`{"messages":[{"role":"user","content":"`, unit)
	}
	shapes := map[string]shape{"messages": chat{}, "input": responses{}}
	f.Fuzz(func(t *testing.T, head, unit string) {
		body := head + unit
		for field, s := range shapes {
			r, err := s.read([]byte(body))
			if err != nil || r.query == "" {
				continue
			}
			if why := memory.CheckContent(r.query, memory.MaxQueryRunes); why != "" {
				t.Fatalf("%q: the query %q %s", body, r.query, why)
			}
			changed := string(s.inject([]byte(body), r, remembered))
			if !json.Valid([]byte(changed)) || len(changed) <= len(body) || !strings.Contains(changed, quoted(remembered)[1:]) {
				t.Fatalf("%q becomes %q", body, changed)
			}
			var before, after map[string]json.RawMessage
			if json.Unmarshal([]byte(body), &before) != nil || json.Unmarshal([]byte(changed), &after) != nil {
				t.Fatalf("%q becomes %q", body, changed)
			}
			for name, value := range before {
				if name != "messages" && name != "instructions" && string(after[name]) != string(value) {
					t.Fatalf("%s of %q becomes %q", name, body, after[name])
				}
			}
			if field == "input" && string(before["input"]) != string(after["input"]) {
				t.Fatalf("the input of %q becomes %q", body, after["input"])
			}
		}
		growthtest.Check(t, head, unit, func(text string) {
			for _, tail := range []string{"", `{}]}`, `"}]}`} { // may complete the body
				for _, s := range shapes {
					_, _ = s.read([]byte(text + tail))
				}
			}
		})
	})
}

// An answer is passed on unchanged, and the message read from it does not depend on how the answer is cut into pieces.
func FuzzFollow(f *testing.F) {
	for _, seed := range []string{
		stream, whole, "data: [DONE]\n\n", "data:\r\n\r\n", "data: {\ndata: }\n\n",
		`data: {"type":"response.completed"}` + "\n\n",
	} {
		f.Add("", seed)
	}
	for _, unit := range []string{
		`data: {"choices":[{"index":0,"delta":{"content":"x"}}]}` + "\n\n", "data: x\n", "\n", "x", ": y\n\n",
	} {
		f.Add(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\n", unit)
		f.Add("data: ", unit)
	}
	read := func(s shape, text string, streams bool, size int) (passed string, said []message) {
		body := &followed{
			ReadCloser: io.NopCloser(strings.NewReader(text)), answer: s.newAnswer(), streams: streams,
			onWhole: func(m message) { said = append(said, m) },
		}
		var all strings.Builder
		_, _ = io.CopyBuffer(struct{ io.Writer }{&all}, struct{ io.Reader }{body}, make([]byte, size)) // never fails
		return all.String(), said
	}
	f.Fuzz(func(t *testing.T, head, unit string) {
		text := head + unit
		for _, s := range []shape{chat{}, responses{}} {
			for _, streams := range []bool{true, false} {
				passed, said := read(s, text, streams, bufferBytes)
				again, other := read(s, text, streams, 3)
				one, _ := json.Marshal(said)
				two, _ := json.Marshal(other)
				if passed != text || again != text || string(one) != string(two) || len(said) > 1 {
					t.Fatalf("%q passes as %q and %q, and says %s and %s", text, passed, again, one, two)
				}
			}
		}
		growthtest.Check(t, head, unit, func(text string) { read(chat{}, text, true, bufferBytes) })
	})
}
