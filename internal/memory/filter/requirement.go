package filter

import "encoding/json"

// Requirement is what every memory has that a filter chooses. Other memories may
// have it too.
type Requirement struct {
	Metadata bool // some metadata
	// From each of these lists, one JSON object that its metadata contains, in the
	// sense of jsonb's operator @> of Postgres.
	Contains [][]string
}

// Requirement returns the condition by which a database can reduce the memories
// that Matches is asked for.
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
	}
	return r
}

// The requirement of alternatives joins one list of each.
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

// requirementOf returns the requirement of a condition on a key of the metadata.
// equal holds what the value may equal, or is nil if the operator is another.
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
