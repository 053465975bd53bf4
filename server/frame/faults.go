package frame

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"

	"hippocampus/internal/memory"
)

// fieldErrors converts an error of kin-openapi to faults with our own messages.
func fieldErrors(path string, err error) []memory.Field {
	var refused *openapi3filter.RequestError
	var schema *openapi3.SchemaError
	var many openapi3.MultiError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &many):
		var fields []memory.Field
		for _, err := range many {
			fields = append(fields, fieldErrors(path, err)...)
		}
		return fields
	case errors.As(err, &schema):
		for _, segment := range schema.JSONPointer() {
			if index, err := strconv.Atoi(segment); err == nil {
				segment = fmt.Sprintf("[%d]", index)
			}
			path = joinPath(path, segment)
		}
		if schema.SchemaField == "properties" { // the path is that of the object; the reason has the name
			if quoted, err := strconv.QuotedPrefix(strings.TrimPrefix(schema.Reason, "property ")); err == nil {
				name, _ := strconv.Unquote(quoted)
				path = joinPath(path, clip(name))
			}
		}
		if err := bestAlternative(schema); err != nil {
			return fieldErrors(path, err)
		}
		if path == "" {
			path = "body"
		}
		return []memory.Field{{Path: path, Message: complaint(schema)}}
	case errors.As(err, &refused) && errors.Is(refused.Err, openapi3filter.ErrInvalidRequired):
		return []memory.Field{{Path: path, Message: "is missing"}}
	case errors.As(err, &refused) && errors.Is(refused.Err, openapi3filter.ErrInvalidEmptyValue):
		return []memory.Field{{Path: path, Message: "is empty"}}
	case errors.As(err, &refused):
		message := "is not well formed"
		if refused.Parameter != nil && refused.Parameter.Schema != nil {
			message = "is not of type " + strings.Join(refused.Parameter.Schema.Value.Type.Slice(), " or ")
		}
		return []memory.Field{{Path: path, Message: message}}
	}
	return []memory.Field{{Path: path, Message: err.Error()}}
}

// bestAlternative returns the error of a value by the alternative of an anyOf that has the
// value's type, or nil if there is no such alternative.
func bestAlternative(e *openapi3.SchemaError) error {
	if e.SchemaField != "anyOf" {
		return nil
	}
	if best := alternative(e.Schema, e.Value); best != nil {
		return best.VisitJSON(e.Value, openapi3.VisitAsRequest(), openapi3.MultiErrors())
	}
	return nil
}

// alternative returns the alternative of an anyOf that has the value's type, or nil.
func alternative(schema *openapi3.Schema, value any) *openapi3.Schema {
	kind := ""
	switch value.(type) {
	case string:
		kind = openapi3.TypeString
	case []any:
		kind = openapi3.TypeArray
	case map[string]any:
		kind = openapi3.TypeObject
	}
	for _, alternative := range schema.AnyOf {
		if alternative.Value.Type.Is(kind) {
			return alternative.Value
		}
	}
	return nil
}

// The complaints about a field that the schema does not have, and about an empty text or list.
const (
	unknownField = "is not a known field"
	isEmptyFault = "is empty"
)

func tooManyItems(s *openapi3.Schema) string {
	return fmt.Sprintf("has more than %d items", *s.MaxItems)
}

// complaint describes what is wrong with a value, without the value.
func complaint(e *openapi3.SchemaError) string {
	switch s := e.Schema; e.SchemaField {
	case "required":
		return "is missing"
	case "properties":
		return unknownField
	case "nullable":
		return "is null: leave the field out instead"
	case "minLength":
		if s.MinLength == 1 {
			return isEmptyFault
		}
		return fmt.Sprintf("is shorter than %d characters", s.MinLength)
	case "maxLength":
		return fmt.Sprintf("is longer than %d characters", *s.MaxLength)
	case "minItems":
		if s.MinItems == 1 {
			return isEmptyFault
		}
		return fmt.Sprintf("has fewer than %d items", s.MinItems)
	case "maxItems":
		return tooManyItems(s)
	case "minProperties":
		known := slices.Sorted(maps.Keys(s.Properties))
		switch {
		case len(known) > 0:
			return fmt.Sprintf("needs at least %d of the fields %s", s.MinProps, strings.Join(known, ", "))
		case s.MinProps == 1:
			return isEmptyFault
		}
		return fmt.Sprintf("has fewer than %d fields", s.MinProps)
	case "minimum":
		return fmt.Sprintf("is less than %g", *s.Min)
	case "maximum":
		return fmt.Sprintf("is more than %g", *s.Max)
	case "enum":
		return fmt.Sprintf("is not one of %v", s.Enum)
	case "format":
		return fmt.Sprintf("is not a %s as in RFC 3339, such as 2026-01-31T08:00:00Z", s.Format)
	case "anyOf":
		var kinds []string
		for _, alternative := range s.AnyOf {
			kinds = append(kinds, alternative.Value.Type.Slice()...)
		}
		return "is not of type " + strings.Join(kinds, " or ")
	case "type":
		return "is not of type " + strings.Join(s.Type.Slice(), " or ")
	}
	return e.Reason
}

// clip shortens a name that a client chose.
func clip(name string) string {
	if chars := []rune(strings.ToValidUTF8(name, "\uFFFD")); len(chars) > 64 {
		return string(chars[:64]) + "..."
	}
	return strings.ToValidUTF8(name, "\uFFFD")
}

// joinPath joins the path of a value and a path within it.
func joinPath(outer, inner string) string {
	if outer == "" || inner == "" || inner[0] == '[' {
		return outer + inner
	}
	return outer + "." + inner
}
