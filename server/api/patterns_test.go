package api

import (
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"pgregory.net/rapid"

	"hippocampus/internal/memory"
	"hippocampus/knowledge/facts"
	"hippocampus/server/frame"
)

// Handlers check what openapi.yaml states as a pattern. Both accept the same texts.
func TestPatterns_AgreeWithHandlers(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(openAPI)
	if err != nil {
		t.Fatal(err)
	}
	schema := func(name string) *openapi3.Schema { return doc.Components.Schemas[name].Value }
	parameter := func(name string) *openapi3.Schema { return doc.Components.Parameters[name].Value.Schema.Value }
	content := func(s string) string { // NUL has become U+FFFD before the handlers read it
		return memory.CheckContent(strings.ReplaceAll(s, "\x00", "\uFFFD"), memory.MaxContentRunes)
	}
	characters := rapid.SampledFrom([]rune("a0Z_-.~ \t\n\v\r\x00\x01\x1f\x7f\u0085\u009f\u00a0é" +
		"\u1680\u2003\u2010\u2028\u3000界🙂\ufe58\uff3f"))
	for name, c := range map[string]struct {
		schema *openapi3.Schema
		texts  *rapid.Generator[string]
		valid  func(string) bool
	}{
		"UserID": {schema("UserID"), rapid.StringOf(characters), func(s string) bool {
			return memory.CheckID(s, false) == ""
		}},
		"Content": {schema("Content"), rapid.StringOf(characters), func(s string) bool { return content(s) == "" }},
		"InstructionName": {schema("InstructionName"), rapid.StringOf(characters), func(s string) bool {
			return memory.CheckName(s, memory.MaxInstructionName) == ""
		}},
		"FactName": {schema("FactName"), rapid.StringOf(characters), func(s string) bool { return facts.CheckName(s) == "" }},
		"EventID": {schema("EventID"), rapid.StringMatching(`[0-9]{0,3}\.?[0-9]{0,3}`), func(s string) bool {
			_, ok := memory.ParsePlace(s)
			return ok
		}},
		"Cursor": {parameter("Cursor"), rapid.StringMatching(
			`[0-9]{0,17}\.0198c0de-0000-7000-8000-00000000000[0-9a-h](\.[0-9a-g]{8})?`), isCursor(false)},
		"NameCursor": {parameter("NameCursor"), rapid.StringMatching(`[0-9]{0,17}\.[A-Za-z0-9_-]{0,9}(\.[0-9a-g]{8})?`),
			isCursor(true)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			codepoint := regexp.MustCompile(`\\u([0-9A-F]{4})`)
			pattern := regexp.MustCompile(codepoint.ReplaceAllString(c.schema.Pattern, `\x{$1}`))
			rapid.Check(t, func(t *rapid.T) {
				text := c.texts.Draw(t, "text")
				if stated, valid := pattern.MatchString(text), c.valid(text); stated != valid {
					t.Fatalf("%q: openapi.yaml accepts it: %v, the handlers: %v", text, stated, valid)
				}
			})
		})
	}
}

// isCursor reports whether a text is a cursor, of whatever list.
func isCursor(named bool) func(text string) bool {
	return func(text string) bool {
		_, fault := frame.ParseCursor("/v1/x", text, named)
		return fault == "" || fault == frame.ForeignCursor
	}
}
