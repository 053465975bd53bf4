package frame

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClean_ReplacesInTextsAlone(t *testing.T) {
	t.Parallel()
	cleaned := func(path string, count int) []CleanedText { return []CleanedText{{path, count}} }
	deep := strings.Repeat(`{"a":`, MaxDepth+1) + `"\ud800"` + strings.Repeat("}", MaxDepth+1)
	for name, c := range map[string]struct {
		body, want string // want is empty: the body stays unchanged
		found      []CleanedText
	}{
		"whole pairs":        {`{"query":"\ud83d\ude42 \uD83D\uDE42 🙂 \\ud800 \/ \ufffd"}`, "", nil},
		"NUL":                {`{"query":"a\u0000b\u0000"}`, `{"query":"a�b�"}`, cleaned("query", 2)},
		"a backslash before": {`{"query":"a\\\u0000 \\u0000"}`, `{"query":"a\\� \\u0000"}`, cleaned("query", 1)},
		"first half":         {`{"query":"\ud83d"}`, `{"query":"�"}`, cleaned("query", 1)},
		"second half":        {`{"query":"\uDE42\n"}`, `{"query":"�\n"}`, cleaned("query", 1)},
		"halves in disorder": {`{"query":"\ude42\ud83d\ud83d\ude42"}`, `{"query":"��\ud83d\ude42"}`, cleaned("query", 2)},
		"bytes":              {"{\"query\":\"caf\xe9 \xf0\x9f\x99\"}", `{"query":"caf� ���"}`, cleaned("query", 4)},
		"in lists": {
			`{ "messages" : [ {"content":"x"}, {"role":"user","content":[{"type":"text","text":"\u0000"}] } ] }`,
			`{ "messages" : [ {"content":"x"}, {"role":"user","content":[{"type":"text","text":"�"}] } ] }`,
			cleaned("messages[1].content[0].text", 1),
		},
		"several": {
			`{"metadata":{"a":"\u0000","n":1.50},"title":"\ud800"}`, `{"metadata":{"a":"�","n":1.50},"title":"�"}`,
			[]CleanedText{{"metadata.a", 1}, {"title", 1}},
		},
		"a text for messages": {`{"messages":"a\u0000"}`, `{"messages":"a�"}`, cleaned("messages", 1)},
		"an id":               {`{"user_id":"\u0000"}`, "", nil},
		"a key":               {`{"metadata":{"\u0000":1}}`, "", nil},
		"an id and a text": {
			"{\"user_id\":\"\xff\",\"query\":\"\xff\"}", "{\"user_id\":\"\xff\",\"query\":\"�\"}", cleaned("query", 1),
		},
		"no JSON":    {`{"query":"\u0000",}`, "", nil},
		"two values": {`{"query":"\u0000"}{}`, "", nil},
		"too deep":   {`{"query":"\u0000","a":` + deep + `}`, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := c.want
			if want == "" {
				want = c.body
			}
			got, found := CleanTexts([]byte(c.body))
			if string(got) != want {
				t.Errorf("%q, want %q", got, want)
			}
			if diff := cmp.Diff(c.found, found); diff != "" {
				t.Error(diff)
			}
		})
	}
}
