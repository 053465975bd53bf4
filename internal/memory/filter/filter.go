// Package filter chooses memories by their metadata and other fields:
//
//	JSON -> Parse -> Filter -> Matches      whether it chooses a memory: the meaning of the language
//	                        -> Requirement  a weaker condition, which a database can search by
//
// A filter is a JSON object, all of whose entries must hold:
//
//	{"and": [filter, ...]}  {"or": [filter, ...]}  {"not": filter}
//	{"metadata": {KEY: condition, ...}}            KEY is a top-level key of the metadata
//	{FIELD: condition}                             FIELD is id, agent_id, conversation_id, content, type, domain,
//	                                               tags, importance, pinned, created_at or updated_at
//
// A condition is a string, a number, true, false or null, which the value must
// equal, or an object of operators, which must all hold:
//
//	eq, ne            a string, a number, true, false or null
//	in                a list of those: the value must equal one
//	gt, gte, lt, lte  a number or a time; a date is its midnight in UTC
//	contains          a string, which must be part of the value; icontains ignores upper and lower case
//
// A missing value equals null. A list matches if one of its elements does. A
// value of another type than the operand does not match. ne is the opposite of eq.
package filter

import (
	"bytes"
	"encoding/json"

	"hippocampus/internal/memory"
)

// Filter chooses memories. Nil chooses all.
type Filter struct{ root expression }

// Matches reports whether the filter chooses a memory.
func (f *Filter) Matches(m *memory.Memory) bool {
	return f == nil || f.root.matches(&subject{Memory: m})
}

// subject is a memory that a filter is applied to.
type subject struct {
	*memory.Memory
	decoded map[string]any // its metadata, from the first use on
}

// value returns a value of the metadata, a number as json.Number; nil if it is missing.
func (s *subject) value(key string) any {
	if s.decoded == nil {
		s.decoded = map[string]any{}
		if s.Metadata != nil {
			decoder := json.NewDecoder(bytes.NewReader(s.Metadata))
			decoder.UseNumber()
			_ = decoder.Decode(&s.decoded) // metadata is a JSON object: memory.CheckMetadata
		}
	}
	return s.decoded[key]
}

// expression is a filter or a part of one.
type expression interface {
	matches(s *subject) bool
	requirement() Requirement
}

type (
	all  []expression
	some []expression
	not  struct{ expression }
)

func (e all) matches(s *subject) bool {
	for _, part := range e {
		if !part.matches(s) {
			return false
		}
	}
	return true
}

func (e some) matches(s *subject) bool {
	for _, part := range e {
		if part.matches(s) {
			return true
		}
	}
	return false
}

func (e not) matches(s *subject) bool { return !e.expression.matches(s) }

// condition is an operator on the value that read returns.
type condition struct {
	read     func(s *subject) any
	test     test
	required Requirement
}

// test reports whether a value matches. The value is a string, a json.Number, a bool, a time.Time or nil.
type test func(value any) bool

func (e condition) matches(s *subject) bool {
	value := e.read(s)
	list, isList := value.([]any)
	if !isList {
		list = []any{value}
	}
	for _, element := range list {
		switch element.(type) {
		case []any, map[string]any: // match nothing
		default:
			if e.test(element) {
				return true
			}
		}
	}
	return false
}
