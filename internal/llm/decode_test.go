package llm_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"hippocampus/internal/growthtest"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

type box struct {
	Text  string   `json:"text"`
	Count *float64 `json:"count"`
}

type boxes struct {
	Boxes llm.Items[box] `json:"boxes"`
	Note  string         `json:"note"`
}

func TestDecode_ReadsOneObject(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer, want string
		salvaged     bool
	}{
		"plain":                  {answer: `{"text":"a"}`, want: "a"},
		"space around":           {answer: "\n {\"text\":\"a\"}\r\n", want: "a"},
		"fence":                  {answer: "```json\n{\"text\":\"a\"}\n```", want: "a"},
		"fence without language": {answer: "```\n{\"text\":\"a\"}```", want: "a"},
		"open fence":             {answer: "```json\n{\"text\":\"a\"}", want: "a"},
		"nested fences":          {answer: "```\n```json\n{\"text\":\"a\"}\n```\n```", want: "a"},
		"prose before":           {answer: `Here you are: {"text":"a"}`, want: "a"},
		"prose after":            {answer: `{"text":"a"} Hope this helps!`, want: "a"},
		"prose and fence":        {answer: "好的：\n```json\n{\"text\":\"a\"}\n```\n以上。", want: "a"},
		"prose with braces":      {answer: `{not json} {"text":"a"}`, want: "a"},
		"prose with brackets":    {answer: `see [1]: {"text":"a"} and [2]`, want: "a"},
		"brace after":            {answer: `{"text":"a"} }`, want: "a"},
		"thoughts":               {answer: "<think>hmm</think>\n{\"text\":\"a\"}", want: "a"},
		"thoughts with an object": {
			answer: "<think>{\"text\":\"b\"} or [</think>\n{\"text\":\"a\"}", want: "a",
		},
		"thoughts without a beginning": {answer: "{? no }</thinking>{\"text\":\"a\"}", want: "a"},
		"thoughts as data":             {answer: `{"text":"</think> {x}"}`, want: "</think> {x}"},
		"byte order mark":              {answer: "\ufeff{\"text\":\"a\"}", want: "a"},
		"braces in a string":           {answer: `{"text":"} {\"x\":[]} ` + "```" + `"}`, want: "} {\"x\":[]} ```"},
		"escapes":                      {answer: `{"text":"\ud83d\ude00 \u4f60"}`, want: "😀 你"},
		"raw line end":                 {answer: "{\"text\":\"a\nb\"}", want: "a b"},
		"controls":                     {answer: `{"text":"a\u0000\u202eb\u2066\n"}`, want: "ab\n"},

		"not UTF-8":      {answer: "{\"text\":\"a\xff\"}", want: "a\ufffd"},
		"hash comment":   {answer: "{\"text\": # it's }\n\"a\"} # b", want: "a"},
		"hash":           {answer: `{"text":"#a"}`, want: "#a"},
		"given twice":    {answer: "{\"text\":\"a\"}\n{\"text\":\"a\"}", want: "a"},
		"lone surrogate": {answer: `{"text":"a\ud800"}`, want: "a\ufffd", salvaged: true},
		"wrapped":        {answer: `{"result":{"text":"a"}}`, want: "a", salvaged: true},

		"unknown field":       {answer: `{"text":"a","more":{"b":[1]}}`, want: "a", salvaged: true},
		"other case":          {answer: `{"Text":"a"}`, want: "a", salvaged: true},
		"trailing comma":      {answer: `{"text":"a",}`, want: "a", salvaged: true},
		"block comment":       {answer: `{"text":"a" /* it's } */}`, want: "a", salvaged: true},
		"line comment":        {answer: "{\"text\":\"a\" // it's }\n}", want: "a", salvaged: true},
		"list of the object":  {answer: `[{"text":"a"}]`, want: "a", salvaged: true},
		"number as a string":  {answer: `{"text":"a","count":" 0.5 "}`, want: "a", salvaged: true},
		"thoughts and comma":  {answer: `<think>{</think> {"text":"a",}`, want: "a", salvaged: true},
		"unknown, then other": {answer: `{"text":"b","x":1} [{"text":"a"}]`, want: "b", salvaged: true},
	} {
		a := llm.Answer{Text: test.answer}
		var b box
		if err := a.Decode(&b); err != nil || b.Text != test.want || (len(a.Salvaged) > 0) != test.salvaged {
			t.Errorf("%s: %q, %q, %v", name, b.Text, a.Salvaged, err)
		}
		if test.salvaged && strings.Contains(test.answer, "count") && (b.Count == nil || *b.Count != 0.5) {
			t.Errorf("%s: count %v", name, b.Count)
		}
	}
}

func TestDecode_RefusesOtherAnswers(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"empty":             "",
		"no object":         "none",
		"two objects":       `{"text":"a"}{"text":"b"}`,
		"list of strings":   `["a"]`,
		"list of two":       `[{"text":"a"},{"text":"b"}]`,
		"duplicate":         `{"text":"a","text":"b"}`,
		"duplicate by case": `{"text":"a","Text":"b"}`,
		"wrong type":        `{"text":1}`,
		"NaN":               `{"count":NaN}`,
		"NaN as a string":   `{"count":"NaN"}`,
		"word as a number":  `{"count":"high"}`,
		"too large":         `{"count":1e400}`,
		"truncated":         `{"text":"a`,
		"truncated number":  `{"count":1`,
		"truncated comment": `{"text":"a" /* b }`,
		"truncated think":   `<think> perhaps {"text":"a"}`,
		"reversed":          `} {`,
		"single quotes":     `{'text':'a'}`,
		"html":              `<HTML>{"text":"a"}</HTML>`,
	} {
		var b box
		if err := (&llm.Answer{Text: answer}).Decode(&b); !memory.IsKind(err, memory.KindBadAnswer) {
			t.Errorf("%s: decoded as %+v, %v", name, b, err)
		}
	}
}

// An item that cannot be read fails alone.
func TestDecode_ReadsItemsOneByOne(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ answer, want string }{
		"none":                  {`{"boxes":[]}`, ""},
		"plain":                 {`{"boxes":[{"text":"a"},{"text":"b"}]}`, "a b"},
		"wrong type":            {`{"boxes":[{"text":1},{"text":"b"}]}`, "! b"},
		"not an object":         {`{"boxes":["x",{"text":"b"},[]]}`, "! b !"},
		"unknown field":         {`{"boxes":[{"text":"a","why":1},{"text":"b"}],"why":2}`, "a b"},
		"number as a string":    {`{"boxes":[{"text":"a","count":"0.5"},{"text":"b","count":"x"}]}`, "a !"},
		"single item":           {`{"boxes":{"text":"a"}}`, "a"},
		"list alone":            {`[{"text":"a"},{"text":"b"}]`, "a b"},
		"empty list":            {`[]`, ""},
		"list of the object":    {`[{"boxes":[{"text":"a"}]}]`, "a"},
		"item alone":            {`{"text":"a"}`, "a"},
		"list in another case":  {`{"Boxes":[{"TEXT":"a"}]}`, "a"},
		"null list":             {`{"boxes":null}`, ""},
		"one a line":            {"{\"text\":\"a\"}\n{\"text\":\"b\"}\n", "a b"},
		"wrapped":               {`{"result":{"boxes":[{"text":"a"}]}}`, "a"},
		"wrapped by two fields": {`{"result":{"boxes":[{"text":"a"}]},"note":"x"}`, "nil"},
		"given twice":           {`{"boxes":[{"text":"a"}]} {"boxes":[{"text":"a"}]}`, "a"},
		"no list, other fields": {`{"other":[{"text":"a"}],"Note":"x"}`, "nil"},
	} {
		var got boxes
		if err := (&llm.Answer{Text: test.answer}).Decode(&got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var texts []string
		for _, item := range got.Boxes {
			if item.Err != nil {
				item.Value.Text = "!"
			}
			if item.Raw == "" {
				t.Errorf("%s: an item without its text", name)
			}
			texts = append(texts, item.Value.Text)
		}
		if got.Boxes == nil {
			texts = []string{"nil"}
		}
		if read := strings.Join(texts, " "); read != test.want {
			t.Errorf("%s: %q instead of %q", name, read, test.want)
		}
	}
}

// A corrected answer that is cut off is read up to its last whole item, and a first one is refused.
func TestDecode_ReadsCutAnswerThatWasCorrected(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"boxes":[{"text":"a"},{"text":"b`:                   "a",
		`{"boxes":[{"text":"a"},{"text":"b"}`:                 "a b",
		`{"boxes":[{"text":"a"},{"text":"b"}],`:               "a b",
		`{"result":{"boxes":[{"text":"a"}]},"more":{"x":{"y"`: "a",
		`[{"text":"a"},{"text`:                                "a",
		`{"boxes":[{"text":"a"},{"more":[{"x":1},{"y`:         "a",
		`{"boxes":[{"text":"a`:                                "refused",
		`{"boxes":[`:                                          "refused",
		`{"text":"a","more":{"x":1},`:                         "refused",
	} {
		var got boxes
		first, corrected := llm.Answer{Text: answer}, llm.Answer{Text: answer, Corrected: true}
		if err := first.Decode(&got); !memory.IsKind(err, memory.KindBadAnswer) {
			t.Errorf("%s: %v", answer, err)
		}
		var texts []string
		err := corrected.Decode(&got)
		for _, item := range got.Boxes {
			texts = append(texts, item.Value.Text)
		}
		if memory.IsKind(err, memory.KindBadAnswer) {
			texts = []string{"refused"}
		} else if len(corrected.Salvaged) == 0 {
			t.Errorf("%s: nothing is recorded", answer)
		}
		if read := strings.Join(texts, " "); read != want {
			t.Errorf("%s: %q instead of %q, %v", answer, read, want, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"text":"a","count":1}`, "```json\n{}\n```", "{}{}", "}{", "[{}]", "\xff",
		`{"text":"a",}//`, `<think>{</think>{"Text":"\u202e","count":"1"}`, `[{"text":1},]`} {
		f.Add("", seed, "")
	}
	for _, unit := range []string{
		`{"x":`, `[`, `{x}`, `{"x":1} `, `"x":1,`, `/*`, `//`, `\"`, "<think>", "</think>", "[1]", "[[1]", "{,", "[],",
	} {
		f.Add("", unit, "")
		f.Add(`{"text":"a",`, unit, "}")
		f.Add(`<think>`, unit, `{"text":"a"}`)
		f.Add(`{"boxes":[`, unit, `]}`)
	}
	f.Fuzz(func(t *testing.T, head, unit, tail string) {
		answer := head + unit + tail
		var b box
		read := llm.Answer{Text: answer}
		switch err := read.Decode(&b); {
		case err != nil && !memory.IsKind(err, memory.KindBadAnswer):
			t.Fatalf("%q: %v", answer, err)
		case err == nil && (!utf8.ValidString(b.Text) || len(b.Text) > len(answer)):
			t.Fatalf("%q gave the text %q", answer, b.Text)
		case err != nil && len(err.Error()) > 500:
			t.Fatalf("%q: an error of %d bytes", answer, len(err.Error()))
		}
		for _, salvaged := range read.Salvaged {
			if len(salvaged) > 500 {
				t.Fatalf("%q: a remark of %d bytes", answer, len(salvaged))
			}
		}
		growthtest.Check(t, head, unit, func(text string) {
			_ = (&llm.Answer{Text: text + tail}).Decode(new(box))
			_ = (&llm.Answer{Text: text + tail, Corrected: true}).Decode(new(boxes))
		})
	})
}
