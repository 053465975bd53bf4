package llmtest

import (
	"fmt"
	"strings"
)

// Bad is an answer to the scorer's prompt that must be refused as a whole.
type Bad struct {
	Name   string
	Answer string
}

// EchoedInstruction is a sentence of the scorer's own English prompt.
const EchoedInstruction = "Take facts from the user's words, never from the assistant's."

const goodFact = `{"fact":"The user lives in Oslo.","importance":0.9,"domain":"lifestyle_and_interests","type":"fact"}`

// Malformed lists malformed answers of models.
func Malformed() []Bad {
	fact := func(fields string) string { return `{"facts":[{` + fields + `}]}` }
	good := `{"facts":[` + goodFact + `]}`
	many := func(n int) string {
		return `{"facts":[` + strings.TrimSuffix(strings.Repeat(goodFact+",", n), ",") + `]}`
	}
	long := func(n int) string {
		return fact(fmt.Sprintf(`"fact":%q,"importance":0.9,"domain":"general_chat"`, strings.Repeat("a", n)))
	}
	return []Bad{
		// The answer has no object.
		{"empty", ""},
		{"blank", " \n\t "},
		{"prose", "I could not find anything worth remembering."},
		{"refusal", "I'm sorry, but I can't help with that."},
		{"html", "<!DOCTYPE html><html><body>502 Bad Gateway</body></html>"},
		{"html around an object", "<html><body>" + good + "</body></html>"},
		{"xml", "<facts><fact>The user lives in Oslo.</fact></facts>"},
		{"yaml", "facts:\n  - fact: The user lives in Oslo.\n    importance: 0.9"},
		{"top-level string", `"facts"`},
		{"top-level number", "0.9"},
		{"top-level null", "null"},
		{"object in a JSON string", fmt.Sprintf("%q", good)},

		// The object is not JSON, or not the only one.
		{"truncated in a string", good[:20]},
		{"truncated in the list", `{"facts":[`},
		{"single quotes", strings.ReplaceAll(good, `"`, "'")},
		{"unquoted names", `{facts:[]}`},
		{"missing comma", `{"facts":[` + goodFact + goodFact + `]}`},
		{"python literals", `{"facts":None}`},
		{"two objects", good + "\n" + `{"facts":[]}`},
		{"two fenced objects", "```json\n{\"facts\":[]}\n```\n```json\n" + good + "\n```"},
		{"nested too deep", `{"facts":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}"},

		// The wrong shape.
		{"no facts", `{}`},
		{"facts a string", `{"facts":"none"}`},
		{"list of strings", `{"facts":["The user lives in Oslo."]}`},
		{"list of lists", `{"facts":[[` + goodFact + `]]}`},
		{"null fact", `{"facts":[null]}`},
		{"field names in another language", `{"事实":[{"内容":"用户住在奥斯陆","重要性":0.9}]}`},
		{"duplicate facts field", `{"facts":[],"facts":[` + goodFact + `]}`},
		{"duplicate importance", fact(`"fact":"x","importance":0.1,"importance":0.9,"domain":"general_chat"`)},

		// Wrong values.
		{"importance too high", fact(`"fact":"x","importance":1.7,"domain":"general_chat"`)},
		{"importance negative", fact(`"fact":"x","importance":-0.1,"domain":"general_chat"`)},
		{"importance a word", fact(`"fact":"x","importance":"high","domain":"general_chat"`)},
		{"importance NaN", fact(`"fact":"x","importance":NaN,"domain":"general_chat"`)},
		{"importance infinite", fact(`"fact":"x","importance":1e999,"domain":"general_chat"`)},
		{"importance true", fact(`"fact":"x","importance":true,"domain":"general_chat"`)},
		{"domain a list", fact(`"fact":"x","importance":0.9,"domain":["general_chat"]`)},
		{"type a number", fact(`"fact":"x","importance":0.9,"domain":"general_chat","type":3`)},
		{"fact missing", fact(`"importance":0.9,"domain":"general_chat"`)},
		{"fact null", fact(`"fact":null,"importance":0.9,"domain":"general_chat"`)},
		{"fact a number", fact(`"fact":42,"importance":0.9,"domain":"general_chat"`)},
		{"fact empty", fact(`"fact":"","importance":0.9,"domain":"general_chat"`)},
		{"fact blank", fact(`"fact":" \n ","importance":0.9,"domain":"general_chat"`)},
		{"fact of 4,097 characters", long(4097)},
		{"fact of 100 kB", long(100_000)},
		{"51 facts", many(51)},
		{"500 facts", many(500)},
		{"prompt echoed", fact(fmt.Sprintf(`"fact":%q,"importance":0.9,"domain":"general_chat"`, EchoedInstruction))},
	}
}
