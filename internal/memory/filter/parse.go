package filter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strings"

	"hippocampus/internal/memory"
)

// The limits of a filter. openapi.yaml states them too.
const (
	MaxBytes      = 8 << 10 // of its JSON
	MaxDepth      = 8       // filters within filters
	MaxConditions = 32      // operators
	MaxValues     = 100     // of one in
)

// Parse reads a filter. The path of a fault is relative to the filter, such as
// and[1].metadata.price.gt, and empty for the whole.
func Parse(raw []byte) (*Filter, *memory.Field) {
	if len(raw) > MaxBytes {
		return nil, wrong("has %d bytes: at most %d are allowed", len(raw), MaxBytes)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil, wrong("is not JSON")
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, wrong("holds more than one JSON value")
	}
	root, fault := new(parser).filter(value, 1)
	if fault != nil {
		return nil, fault
	}
	return &Filter{root}, nil
}

func wrong(format string, args ...any) *memory.Field {
	return &memory.Field{Message: fmt.Sprintf(format, args...)}
}

type parser struct{ conditions int }

func (p *parser) filter(value any, depth int) (expression, *memory.Field) {
	if depth > MaxDepth {
		return nil, wrong("is nested deeper than %d levels", MaxDepth)
	}
	return entries(value, func(name string, value any) (expression, *memory.Field) {
		switch name {
		case "and":
			parts, fault := p.filters(value, depth)
			return all(parts), fault
		case "or":
			parts, fault := p.filters(value, depth)
			return some(parts), fault
		case "not":
			part, fault := p.filter(value, depth+1)
			return not{part}, fault
		case "metadata":
			return entries(value, func(key string, value any) (expression, *memory.Field) {
				return p.condition(target{field: field{anyKind, func(s *subject) any { return s.value(key) }}, key: key}, value)
			})
		}
		f, known := fields[name]
		if !known {
			return nil, wrong("is unknown: use metadata, and, or, not, or one of %s", fieldNames())
		}
		return p.condition(target{field: f, key: name}, value)
	})
}

// filters reads the list of and or or.
func (p *parser) filters(value any, depth int) ([]expression, *memory.Field) {
	list, isList := value.([]any)
	if !isList || len(list) == 0 {
		return nil, wrong("is not a list of at least one filter")
	}
	parts := make([]expression, len(list))
	for i, item := range list {
		var fault *memory.Field
		if parts[i], fault = p.filter(item, depth+1); fault != nil {
			return nil, at(fmt.Sprintf("[%d]", i), fault)
		}
	}
	return parts, nil
}

// entries reads an object, all of whose entries must hold.
func entries(
	value any, read func(name string, value any) (expression, *memory.Field),
) (expression, *memory.Field) {
	object, isObject := value.(map[string]any)
	if !isObject || len(object) == 0 {
		return nil, wrong("is not an object with at least one entry")
	}
	parts := make(all, 0, len(object))
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if strings.ContainsRune(name, 0) {
			return nil, wrong("holds a NUL character")
		}
		part, fault := read(name, object[name])
		if fault != nil {
			return nil, at(name, fault)
		}
		parts = append(parts, part)
	}
	return parts, nil
}

const maxName = 64 // characters of a name in a path

// at puts an outer name or index before the path of a fault.
func at(outer string, fault *memory.Field) *memory.Field {
	if runes := []rune(outer); len(runes) > maxName {
		outer = string(runes[:maxName]) + "..."
	}
	if fault.Path != "" && fault.Path[0] != '[' {
		outer += "."
	}
	fault.Path = outer + fault.Path
	return fault
}

// target is the subject of a condition: a field, or a key of the metadata.
type target struct {
	field
	key string // of the metadata, if the kind is anything; else the name of the field
}

const content = "content"

// condition reads what must hold of a target.
func (p *parser) condition(t target, value any) (expression, *memory.Field) {
	switch value.(type) {
	case map[string]any:
		return entries(value, func(operator string, operand any) (expression, *memory.Field) {
			return p.operator(t, operator, operand)
		})
	case []any:
		return nil, wrong("is a list: give it to the operator in")
	}
	return p.operator(t, "eq", value)
}

const operators = "eq, ne, in, gt, gte, lt, lte, contains and icontains"

func (p *parser) operator(t target, operator string, operand any) (expression, *memory.Field) {
	p.conditions++
	if p.conditions > MaxConditions {
		return nil, wrong("is one condition too many: at most %d are allowed", MaxConditions)
	}
	var matches test
	var equal []any // operands as they were given
	var fault *memory.Field
	switch operator {
	case "eq", "ne":
		equal = []any{operand}
		matches, fault = t.in(equal)
	case "in":
		list, isList := operand.([]any)
		if !isList || len(list) == 0 || len(list) > MaxValues {
			return nil, wrong("is not a list of 1 to %d values", MaxValues)
		}
		equal = list
		if matches, fault = t.in(list); fault != nil {
			return nil, fault
		}
	case "gt", "gte", "lt", "lte":
		matches, fault = t.ordered(operator, operand)
	case "contains", "icontains":
		matches, fault = t.contains(operator, operand)
	default:
		fault = wrong("is not an operator: the operators are %s", operators)
	}
	if fault != nil {
		return nil, fault
	}
	c := condition{read: t.read, test: matches}
	switch part, isText := operand.(string); {
	case t.kind == anyKind:
		c.required = requirementOf(t.key, matches, equal)
	case t.key == content && isText && strings.HasSuffix(operator, "contains"):
		c.required = requirementOfContent(part, operator == "icontains")
	}
	if operator == "ne" {
		return not{c}, nil
	}
	return c, nil
}

// in returns the test whether a value equals one of the operands.
func (t target) in(operands []any) (test, *memory.Field) {
	wanted := map[any]bool{}
	for _, operand := range operands {
		value, fault := t.operand(operand)
		if fault != nil {
			return nil, fault
		}
		wanted[canonical(value)] = true
	}
	return func(value any) bool { return wanted[canonical(value)] }, nil
}

// operand returns an operand of eq, ne or in, a time as time.Time if the field is a time.
func (t target) operand(value any) (any, *memory.Field) {
	switch v := value.(type) {
	case nil:
		return nil, nil
	case bool:
		if t.kind == anyKind || t.kind == boolKind {
			return v, nil
		}
	case json.Number:
		if t.kind == anyKind || t.kind == numberKind {
			_, fault := exactly(v)
			return v, fault
		}
	case string:
		if strings.ContainsRune(v, 0) {
			return nil, wrong("holds a NUL character")
		}
		if t.kind == anyKind || t.kind == textKind {
			return v, nil
		}
		if instant, isTime := parseTime(v); isTime && t.kind == timeKind {
			return instant, nil
		}
	}
	if t.kind == anyKind {
		return nil, wrong("is not a string, a number, true, false or null")
	}
	return nil, wrong("is not a %s or null", t.kind)
}

func exactly(n json.Number) (*big.Rat, *memory.Field) {
	exact, ok := parseNumber(n)
	if !ok {
		return nil, wrong("is a number outside the range of a float64")
	}
	return exact, nil
}

// ordered returns the test of gt, gte, lt or lte.
func (t target) ordered(operator string, operand any) (test, *memory.Field) {
	var bound any
	switch v := operand.(type) {
	case json.Number:
		exact, fault := exactly(v)
		if fault != nil {
			return nil, fault
		}
		bound = exact
	case string:
		if instant, isTime := parseTime(v); isTime {
			bound = instant
		}
	}
	_, isNumber := bound.(*big.Rat)
	switch {
	case t.kind == textKind || t.kind == boolKind:
		return nil, wrong("does not apply: this field has no order")
	case bound == nil || t.kind == numberKind && !isNumber || t.kind == timeKind && isNumber:
		return nil, wrong("is neither a number nor a time that this value can be compared with, " +
			"such as 2026-01-31T08:00:00Z or 2026-01-31")
	}
	return func(value any) bool {
		order, ok := compare(value, bound)
		switch operator {
		case "gt":
			return ok && order > 0
		case "gte":
			return ok && order >= 0
		case "lt":
			return ok && order < 0
		}
		return ok && order <= 0
	}, nil
}

// contains returns the test of contains or icontains.
func (t target) contains(operator string, operand any) (test, *memory.Field) {
	part, isText := operand.(string)
	switch {
	case t.kind != anyKind && t.kind != textKind:
		return nil, wrong("does not apply: this field is no text")
	case !isText || part == "":
		return nil, wrong("is not a string of at least one character")
	}
	fold := func(s string) string { return s }
	if operator == "icontains" {
		fold = strings.ToLower
		part = fold(part)
	}
	return func(value any) bool {
		s, isText := value.(string)
		return isText && strings.Contains(fold(s), part)
	}, nil
}
