package profile

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hippocampus/internal/memory"
)

func TestParse_ReadsTheSubset(t *testing.T) {
	t.Parallel()
	got, err := Parse(json.RawMessage(`{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Customer",
		"type": "object", "additionalProperties": false, "properties": {
		"city": {"type": "string", "title": "City", "x-attribute": "home"},
		"age": {"type": "integer", "x-attribute": "age"},
		"plan": {"type": "string", "description": "What the user pays for.", "enum": ["free", "pro"]},
		"born": {"type": "string", "format": "date"},
		"allergies": {"type": "array", "items": {"type": "string"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := Schema{Type: "object", Properties: map[string]Property{
		"city": {Type: "string", Attribute: "home"}, "age": {Type: "integer", Attribute: "age"},
		"plan": {Type: "string", Description: "What the user pays for.", Enum: []string{"free", "pro"}},
		"born": {Type: "string", Format: "date"}, "allergies": {Type: "array", Items: &Items{Type: "string"}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParse_NamesWhatToWriteInstead(t *testing.T) {
	t.Parallel()
	one := func(property string) string { return `{"type":"object","properties":{"a":` + property + `}}` }
	many := strings.Builder{}
	for i := range MaxProperties + 1 {
		fmt.Fprintf(&many, `,"p%d":{"type":"string"}`, i)
	}
	long := strings.Repeat("x", 400)
	for _, c := range []struct{ schema, want string }{
		{`[]`, "type: must be"},
		{`null`, "schema: must be an object"},
		{`{"properties":{"a":{"type":"string"}}}`, `type: must be "object"`},
		{`{"type":"object"}`, "properties: must be an object"},
		{`{"type":"object","properties":{}}`, "properties: has 0 properties"},
		{`{"type":"object","properties":{` + many.String()[1:] + `}}`, "properties: has 51 properties"},
		{
			`{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}`,
			"required: is not supported: leave it out",
		},
		{`{"type":"object","$defs":{},"properties":{"a":{"type":"string"}}}`, "$defs: is not supported: write what"},
		{
			`{"type":"object","additionalProperties":{},"properties":{"a":{"type":"string"}}}`,
			"additionalProperties: must be false",
		},
		{`{"type":"object","properties":{"a b":{"type":"string"}}}`, "properties.a b: must have a name"},
		{`{"type":"object","properties":{"` + long + `":{"type":"string"}}}`, "must have a name"},
		{one(`7`), "properties.a: must be an object"},
		{one(`{}`), "properties.a.type: must be one of string"},
		{one(`{"type":["string","null"]}`), "properties.a.type: must be one text"},
		{one(`{"type":"null"}`), "properties.a.type: must be one of string"},
		{
			one(`{"anyOf":[{"type":"string"},{"type":"null"}]}`),
			"properties.a.anyOf: is not supported: leave it out and write one type",
		},
		{
			one(`{"type":"string","pattern":"(a+)+$"}`),
			"properties.a.pattern: is not supported: leave it out, and say",
		},
		{one(`{"type":"object","properties":{}}`), "properties.a.properties: is not supported: write one property"},
		{one(`{"$ref":"#/$defs/x"}`), "properties.a.$ref: is not supported: write what"},
		{one(`{"type":"string","description":"` + long + `"}`), "properties.a.description: has 400 characters"},
		{one(`{"type":"string","description":7}`), "properties.a.description: must be a text"},
		{one(`{"type":"string","enum":[]}`), "properties.a.enum: has 0 values"},
		{one(`{"type":"string","enum":["a",7]}`), "properties.a.enum: must be a list"},
		{one(`{"type":"string","enum":["a","A"]}`), "properties.a.enum[1]: repeats"},
		{one(`{"type":"string","enum":[" "]}`), "properties.a.enum[0]: is blank"},
		{one(`{"type":"integer","enum":["a"]}`), "properties.a.enum: goes with the type string"},
		{one(`{"type":"string","format":"uuid"}`), "properties.a.format: must be date or email"},
		{one(`{"type":"string","format":"date","enum":["a"]}`), "properties.a.enum: does not go with a format"},
		{one(`{"type":"array"}`), "properties.a.items: must be"},
		{one(`{"type":"array","items":{"type":"integer"}}`), "properties.a.items: must be"},
		{one(`{"type":"array","items":7}`), "properties.a.items: must be an object"},
		{
			one(`{"type":"array","items":{"type":"string","minLength":1}}`),
			"properties.a.items.minLength: is not supported",
		},
		{one(`{"type":"string","items":{"type":"string"}}`), "properties.a.items: must be"},
		{one(`{"type":"string","x-attribute":"shoe size"}`), "properties.a.x-attribute: must be one of home"},
		{one(`{"type":"integer","x-attribute":"home"}`), "properties.a.x-attribute: goes with the type string"},
		{
			one(`{"type":"array","items":{"type":"string"},"x-attribute":"diet"}`),
			"properties.a.x-attribute: goes with",
		},
		{one(`{"type":"string","format":"date","x-attribute":"age"}`), "properties.a.x-attribute: is no date"},
	} {
		_, err := Parse(json.RawMessage(c.schema))
		var wrong *memory.Error
		if !errors.As(err, &wrong) || wrong.Kind != memory.KindInvalid {
			t.Errorf("%.80s: %v", c.schema, err)
			continue
		}
		var all []string
		for _, f := range wrong.Fields {
			all = append(all, f.Path+": "+f.Message)
		}
		if got := strings.Join(all, "\n"); !strings.Contains(got, c.want) {
			t.Errorf("%.80s:\n%s\nwant %s", c.schema, got, c.want)
		}
	}
}
