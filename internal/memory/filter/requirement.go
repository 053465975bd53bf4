package filter

import (
	"encoding/json"
	"strings"
	"unicode"
)

// Requirement is a condition that every memory chosen by a filter meets. Other memories may meet it too.
type Requirement struct {
	Metadata bool // some metadata
	// The metadata contains at least one of the JSON objects of each of these lists, in the sense of jsonb's operator @>
	// of Postgres.
	Contains [][]string
	Parts    []Part // all of these are parts of its content
}

// Part is a part of a content.
type Part struct {
	Text   string
	Folded bool // Text, in lower case, is a part of the content in lower case
}

// Foreign are the characters other than A to Z whose lower case is one of a to z.
var Foreign = []string{"\u0130", "\u212a"}

// Requirement returns the condition by which a database can preselect the memories that Matches then checks.
func (f *Filter) Requirement() Requirement {
	if f == nil {
		return Requirement{}
	}
	return f.root.requirement()
}

func (e all) requirement() (r Requirement) {
	for _, part := range e {
		required := part.requirement()
		r.Metadata = r.Metadata || required.Metadata
		r.Contains = append(r.Contains, required.Contains...)
		r.Parts = append(r.Parts, required.Parts...)
	}
	return r
}

// The requirement of alternatives joins one list of each alternative. It requires no parts of the content.
func (e some) requirement() Requirement {
	metadata, listed := true, true
	var joined []string
	for _, part := range e {
		required := part.requirement()
		metadata = metadata && required.Metadata
		if listed = listed && len(required.Contains) > 0; listed {
			joined = append(joined, required.Contains[0]...)
		}
	}
	r := Requirement{Metadata: metadata}
	if listed {
		r.Contains = [][]string{joined}
	}
	return r
}

func (e not) requirement() Requirement { return Requirement{} }

func (e condition) requirement() Requirement { return e.required }

// requirementOf returns the requirement of a condition on a key of the metadata. equal holds the values that the value
// may equal; nil for an operator other than eq and in.
func requirementOf(key string, t test, equal []any) Requirement {
	if t(nil) {
		return Requirement{}
	}
	r := Requirement{Metadata: true}
	if equal == nil {
		return r
	}
	var objects []string
	for _, value := range equal {
		for _, v := range []any{value, []any{value}} {
			text, _ := json.Marshal(map[string]any{key: v}) // strings, numbers and booleans: cannot fail
			objects = append(objects, string(text))
		}
	}
	r.Contains = [][]string{objects}
	return r
}

// requirementOfContent returns the requirement that the content contains a text. Databases know the lower case of
// ASCII alone, so a folded text with other letters that have two cases requires nothing.
func requirementOfContent(text string, folded bool) Requirement {
	if folded {
		text = strings.ToLower(text)
		for _, r := range text {
			if r > unicode.MaxASCII && unicode.SimpleFold(r) != r {
				return Requirement{}
			}
		}
	}
	return Requirement{Parts: []Part{{Text: text, Folded: folded}}}
}
