package prompt

import (
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	_ "hippocampus/internal/rapidtest" // sets its flags
)

var files = fstest.MapFS{
	"prompts/greet.en.txt": {Data: []byte(`{{define "system"}}Greet.{{end}}{{define "user"}}Hello {{.}}{{end}}`)},
	"prompts/greet.zh.txt": {Data: []byte(`{{define "system"}}打招呼。{{end}}{{define "user"}}你好 {{.}}{{end}}`)},
}

func TestRender_UsesLanguageOfSample(t *testing.T) {
	t.Parallel()
	greet := Parse(files, "greet")
	for sample, want := range map[string]string{"I live here": "Hello Ada", "我住在这里": "你好 Ada"} {
		p, err := greet.Render(sample, "Ada", 7)
		if err != nil || p.User != want || p.MaxTokens != 7 {
			t.Errorf("%q: %+v, %v", sample, p, err)
		}
	}
}

// Each value is one line, and no line contains the delimiter.
func TestQuote_DelimitsHostileValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.Just("=====\n====="))).Draw(t, "values")
		q, err := Quote(values...)
		if err != nil || len(q.Lines) != len(values) {
			t.Fatalf("%+v, %v", q, err)
		}
		again, err := Quote(append(values, q.Delimiter)...)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range again.Lines {
			if strings.ContainsAny(line, "\n\r") || strings.Contains(line, again.Delimiter) {
				t.Fatalf("line %q, delimiter %s", line, again.Delimiter)
			}
		}
	})
}

// A copied sequence is an echo in either language; a few words are not.
func TestEchoes_FindsCopiedSequences(t *testing.T) {
	t.Parallel()
	const user = `{{define "user"}}{{.}}{{end}}`
	ask := Parse(fstest.MapFS{
		"prompts/ask.en.txt": {
			Data: []byte(`{{define "system"}}Keep every name, number, date and reason.{{end}}` + user),
		},
		"prompts/ask.zh.txt": {Data: []byte(`{{define "system"}}保留姓名和日期。{{end}}` + user)},
	}, "ask")
	for answer, want := range map[string]bool{
		"keep every NAME, number and date": true,
		"姓名和日期":                            true,
		"Ada keeps every number.":          false,
		"every name":                       false,
		"":                                 false,
	} {
		if got := ask.Echoes(answer); got != want {
			t.Errorf("%q: %t", answer, got)
		}
	}
	if Wording("Ada does not swim.") != Wording("ada: does NOT swim!") {
		t.Error("the wording depends on case or punctuation")
	}
	if Wording("Ada does not swim") == Wording("Ada does swim") {
		t.Error("the wording does not depend on a word")
	}
}
