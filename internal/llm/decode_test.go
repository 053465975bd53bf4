package llm_test

import (
	"testing"
	"unicode/utf8"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

type box struct {
	Text  string   `json:"text"`
	Count *float64 `json:"count"`
}

func TestDecode_AcceptsOneObjectOnly(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ answer, want string }{
		"plain":                  {`{"text":"a"}`, "a"},
		"space around":           {"\n {\"text\":\"a\"}\r\n", "a"},
		"fence":                  {"```json\n{\"text\":\"a\"}\n```", "a"},
		"fence without language": {"```\n{\"text\":\"a\"}```", "a"},
		"prose before":           {`Here you are: {"text":"a"}`, "a"},
		"prose after":            {`{"text":"a"} Hope this helps!`, "a"},
		"prose and fence":        {"好的：\n```json\n{\"text\":\"a\"}\n```\n以上。", "a"},
		"thoughts":               {"<think>hmm</think>\n{\"text\":\"a\"}", "a"},
		"braces in a string":     {`{"text":"} {\"x\":[]} ` + "```" + `"}`, "} {\"x\":[]} ```"},
		"escapes":                {`{"text":"\ud83d\ude00 \u4f60"}`, "😀 你"},
	} {
		var b box
		if err := llm.Decode(test.answer, &b); err != nil || b.Text != test.want {
			t.Errorf("%s: %q, %v", name, b.Text, err)
		}
	}
	for name, answer := range map[string]string{
		"empty":               "",
		"no object":           "none",
		"two objects":         `{"text":"a"}{"text":"b"}`,
		"object then brace":   `{"text":"a"} }`,
		"prose with braces":   `{not json} {"text":"a"}`,
		"prose with brackets": `see [1]: {"text":"a"}`,
		"list":                `[{"text":"a"}]`,
		"unknown field":       `{"text":"a","more":1}`,
		"other case":          `{"Text":"a"}`,
		"duplicate":           `{"text":"a","text":"b"}`,
		"wrong type":          `{"text":1}`,
		"NaN":                 `{"count":NaN}`,
		"too large":           `{"count":1e400}`,
		"truncated":           `{"text":"a`,
		"truncated number":    `{"count":1`,
		"reversed":            `} {`,
		"comment":             `{"text":"a" /* x */}`,
		"invalid UTF-8":       "{\"text\":\"\xff\"}",
		"lone surrogate":      `{"text":"\ud800"}`,
		"BOM":                 "\ufeff{\"text\":\"a\"}",
		"html":                `<HTML>{"text":"a"}</HTML>`,
		"open fence":          "```json\n{\"text\":\"a\"}",
		"close fence":         "{\"text\":\"a\"}\n```",
		"nested fences":       "```\n```json\n{\"text\":\"a\"}\n```\n```",
	} {
		var b box
		if err := llm.Decode(answer, &b); !memory.IsKind(err, memory.KindBadAnswer) {
			t.Errorf("%s: decoded as %+v, %v", name, b, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"text":"a","count":1}`, "```json\n{}\n```", "{}{}", "}{", "[{}]", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		var b box
		switch err := llm.Decode(answer, &b); {
		case err != nil && !memory.IsKind(err, memory.KindBadAnswer):
			t.Fatalf("%q: %v", answer, err)
		case err == nil && !utf8.ValidString(b.Text):
			t.Fatalf("%q gave invalid text", answer)
		case err != nil && len(err.Error()) > 500:
			t.Fatalf("%q: an error of %d bytes", answer, len(err.Error()))
		}
	})
}
