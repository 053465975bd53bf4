package filter

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// kind is the kind of the values of a field.
type kind string

const (
	anyKind    kind = "value" // of the metadata
	textKind   kind = "text"
	numberKind kind = "number"
	timeKind   kind = "time"
	boolKind   kind = "boolean"
)

// field is a field of a memory that conditions can name.
type field struct {
	kind
	read func(s *subject) any
}

var fields = map[string]field{
	"id":              {textKind, func(s *subject) any { return s.ID }},
	"agent_id":        {textKind, func(s *subject) any { return optional(s.AgentID) }},
	"conversation_id": {textKind, func(s *subject) any { return optional(s.ConversationID) }},
	"content":         {textKind, func(s *subject) any { return s.Content }},
	"type":            {textKind, func(s *subject) any { return string(s.Type) }},
	"domain":          {textKind, func(s *subject) any { return string(s.Domain) }},
	"tags":            {textKind, func(s *subject) any { return listOf(s.Tags) }},
	"importance":      {numberKind, func(s *subject) any { return shortest(s.Importance) }},
	"pinned":          {boolKind, func(s *subject) any { return s.Pinned }},
	"created_at":      {timeKind, func(s *subject) any { return s.CreatedAt }},
	"updated_at":      {timeKind, func(s *subject) any { return s.UpdatedAt }},
}

func fieldNames() string { return strings.Join(slices.Sorted(maps.Keys(fields)), ", ") }

func optional(id string) any {
	if id == "" {
		return nil
	}
	return id
}

func listOf(texts []string) []any {
	list := make([]any, len(texts))
	for i, t := range texts {
		list[i] = t
	}
	return list
}

// shortest returns a float as the number that JSON shows for it.
func shortest(f float64) json.Number { return json.Number(strconv.FormatFloat(f, 'g', -1, 64)) }

// decimal is an exact number in a form that is equal for equal numbers.
type decimal string

// canonical returns a value in a form in which equal values are equal by ==.
func canonical(value any) any {
	switch v := value.(type) {
	case json.Number:
		if exact, ok := parseNumber(v); ok {
			return decimal(exact.RatString())
		}
	case time.Time:
		return v.UTC()
	}
	return value
}

// compare returns the order of a value and a bound, which is a *big.Rat or a
// time.Time. ok is false if the value has another type.
func compare(value, bound any) (order int, ok bool) {
	switch bound := bound.(type) {
	case *big.Rat:
		if n, isNumber := value.(json.Number); isNumber {
			if exact, ok := parseNumber(n); ok {
				return exact.Cmp(bound), true
			}
		}
	case time.Time:
		at, isTime := value.(time.Time)
		if text, isText := value.(string); isText {
			at, isTime = parseTime(text)
		}
		return at.Compare(bound), isTime
	}
	return 0, false
}

// parseNumber returns the exact value of a number. ok is false outside the range
// of a float64, which also bounds the time that this takes.
func parseNumber(n json.Number) (exact *big.Rat, ok bool) {
	f, err := n.Float64()
	mantissa, _, _ := strings.Cut(strings.ToLower(n.String()), "e")
	switch {
	case err != nil:
		return nil, false
	case f == 0:
		return new(big.Rat), !strings.ContainsAny(mantissa, "123456789")
	}
	return new(big.Rat).SetString(n.String())
}

// parseTime reads a time as in RFC 3339, or a date as its midnight in UTC.
func parseTime(text string) (at time.Time, ok bool) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day, true
	}
	err := at.UnmarshalText([]byte(text))
	return at, err == nil
}
