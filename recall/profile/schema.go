// Package profile fills the fields of an app's own schema from what holds about a user:
//
//	JSON Schema -> Parse -> Schema
//	current statements -> rules: attributes -> values
//	                   -> model: value, statement, quote -> the checks of a value -> values
//	                   -> the fields, null where nothing is known
//
// A value is never without the statements that it was read from, which are current when it is read.
package profile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/memory"
	"hippocampus/scorer/attribute"
)

// Schema is a checked schema. Its JSON is the JSON Schema.
type Schema struct {
	Type       string              `json:"type"` // "object"
	Properties map[string]Property `json:"properties"`
}

// Property describes a field.
type Property struct {
	Type        string   `json:"type"`                  // see Types
	Description string   `json:"description,omitempty"` // for the model, at most MaxDescription characters
	Enum        []string `json:"enum,omitempty"`        // of a string, at most MaxEnum values
	Format      string   `json:"format,omitempty"`      // of a string: "date" or "email"; may be empty
	Items       *Items   `json:"items,omitempty"`       // of an array
	Attribute   string   `json:"x-attribute,omitempty"` // the attribute by which the rules fill the field; may be empty
}

// Items describes the items of an array, which are strings.
type Items struct {
	Type string   `json:"type"` // "string"
	Enum []string `json:"enum,omitempty"`
}

// Types are the types of fields.
var Types = []string{"string", "integer", "number", "boolean", "array"}

// The limits of a schema.
const (
	MaxProperties  = 50
	MaxName        = 64  // bytes
	MaxDescription = 300 // characters
	MaxEnum        = 50
	MaxEnumRunes   = 100
	MaxSchema      = 32 << 10 // bytes of all
)

var nameForm = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)

// instead says what to write in place of a keyword.
var instead = map[string]string{
	"anyOf": oneType, "oneOf": oneType, "allOf": oneType, "nullable": oneType, "default": oneType, "required": oneType,
	"$ref": writeOut, "$defs": writeOut, "definitions": writeOut,
	"const":      "write an enum of one value",
	"properties": "write one property for each part, such as address_city",
}

const (
	oneType  = "leave it out and write one type: a field of which nothing is known is null"
	writeOut = "write what it refers to in its place"
)

// Parse reads a schema. KindInvalid: it is not in the subset; the error names each path, and what to write instead.
func Parse(raw json.RawMessage) (s Schema, err error) {
	var wrong memory.Fields
	top := objectOf(raw, "schema", &wrong)
	refuse(top, "", &wrong, "type", "properties", "title", "description", "$schema", "additionalProperties")
	if string(top["type"]) != `"object"` {
		wrong.Add("type", `must be "object"`)
	}
	if given := top["additionalProperties"]; given != nil && string(given) != "false" {
		wrong.Add("additionalProperties", "must be false or left out: a profile has the fields of its schema alone")
	}
	s = Schema{Type: "object", Properties: map[string]Property{}}
	properties := objectOf(top["properties"], "properties", &wrong)
	if n := len(properties); n == 0 || n > MaxProperties {
		wrong.Add("properties", fmt.Sprintf("has %d properties: write 1 to %d", n, MaxProperties))
		return s, wrong.Err()
	}
	for name, property := range properties {
		path := "properties." + memory.Clip(name, MaxName)
		if !nameForm.MatchString(name) {
			wrong.Add(path, fmt.Sprintf("must have a name of 1 to %d letters, digits, _ and -, a letter or _ first", MaxName))
			continue
		}
		s.Properties[name] = parseProperty(property, path, &wrong)
	}
	if plain, err := json.Marshal(s); err != nil || len(plain) > MaxSchema {
		wrong.Add("properties", fmt.Sprintf("has more than %d bytes: write less", MaxSchema))
	}
	slices.SortFunc(wrong, func(a, b memory.Field) int { return strings.Compare(a.Path, b.Path) })
	return s, wrong.Err()
}

// objectOf reads an object of JSON.
func objectOf(raw json.RawMessage, path string, wrong *memory.Fields) map[string]json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil || object == nil {
		wrong.Add(path, "must be an object")
	}
	return object
}

// refuse notes the keywords of an object that the subset does not have.
func refuse(object map[string]json.RawMessage, path string, wrong *memory.Fields, known ...string) {
	for keyword := range object {
		if slices.Contains(known, keyword) {
			continue
		}
		advice := instead[keyword]
		if advice == "" {
			advice = "leave it out, and say it in the description; known are " + strings.Join(known, ", ")
		}
		wrong.Add(strings.TrimPrefix(path+"."+memory.Clip(keyword, MaxName), "."), "is not supported: "+advice)
	}
}

func parseProperty(raw json.RawMessage, path string, wrong *memory.Fields) (p Property) {
	object := objectOf(raw, path, wrong)
	if object == nil {
		return p
	}
	refuse(object, path, wrong, "type", "description", "enum", "format", "items", "x-attribute", "title")
	read := func(keyword, form string, into any) {
		if given := object[keyword]; given != nil && json.Unmarshal(given, into) != nil {
			wrong.Add(path+"."+keyword, "must be "+form)
		}
	}
	read("type", "one text, of "+strings.Join(Types, ", ")+": every field may be null", &p.Type)
	read("description", "a text", &p.Description)
	read("enum", "a list of texts", &p.Enum)
	read("format", "date or email", &p.Format)
	read("x-attribute", "a text", &p.Attribute)
	if given := object["items"]; given != nil {
		items := objectOf(given, path+".items", wrong)
		refuse(items, path+".items", wrong, "type", "enum", "title", "description")
		p.Items = &Items{}
		if items != nil && json.Unmarshal(given, p.Items) != nil {
			wrong.Add(path+".items.enum", "must be a list of texts")
		}
	}
	p.check(path, wrong)
	return p
}

// check notes what is wrong with a property.
func (p Property) check(path string, wrong *memory.Fields) {
	isText := p.Type == "string"
	note := func(keyword, complaint string, is bool) {
		if is {
			wrong.Add(path+keyword, complaint)
		}
	}
	note(".type", "must be one of "+strings.Join(Types, ", "), !slices.Contains(Types, p.Type))
	if p.Description != "" {
		wrong.Add(path+".description", memory.CheckContent(p.Description, MaxDescription))
	}
	note(".enum", "goes with the type string: for an array, write it in items", p.Enum != nil && !isText)
	note(".format", "goes with the type string", p.Format != "" && !isText)
	note(".format", "must be date or email: describe another one in description",
		!slices.Contains([]string{"", "date", "email"}, p.Format))
	note(".enum", "does not go with a format: leave one of them out", p.Enum != nil && p.Format != "")
	note(".items", `must be {"type": "string"}, with or without an enum`,
		(p.Type == "array") != (p.Items != nil) || p.Items != nil && p.Items.Type != "string")
	checkEnum(path+".enum", p.Enum, wrong)
	if p.Items != nil {
		checkEnum(path+".items.enum", p.Items.Enum, wrong)
	}
	if p.Attribute == "" {
		return
	}
	isNumber := p.Attribute == "age" && (p.Type == "integer" || p.Type == "number")
	note(".x-attribute", "must be one of "+strings.Join(attribute.All, ", "), !slices.Contains(attribute.All, p.Attribute))
	note(".x-attribute", "goes with the type string, and age with integer and number", !isText && !isNumber)
	note(".x-attribute", "is no date: leave the format out", p.Format == "date")
}

func checkEnum(path string, enum []string, wrong *memory.Fields) {
	if enum != nil && (len(enum) == 0 || len(enum) > MaxEnum) {
		wrong.Add(path, fmt.Sprintf("has %d values: write 1 to %d", len(enum), MaxEnum))
		return
	}
	for i, value := range enum {
		same := func(other string) bool { return strings.EqualFold(other, value) }
		complaint := memory.CheckContent(value, MaxEnumRunes)
		if complaint == "" && slices.ContainsFunc(enum[:i], same) {
			complaint = "repeats an earlier value"
		}
		wrong.Add(fmt.Sprintf("%s[%d]", path, i), complaint)
	}
}
