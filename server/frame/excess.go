package frame

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"

	"hippocampus/internal/memory"
)

// FaultsOf returns what is wrong with a JSON value by its schema. Its cost is bounded by
// the schema, not by the number of faults: excess fields and items are removed from the
// value first.
func FaultsOf(schema *openapi3.Schema, value any) []memory.Field {
	faults := cutExcess(schema, value)
	err := schema.VisitJSON(value, openapi3.VisitAsRequest(), openapi3.MultiErrors())
	return append(faults, fieldErrors("", err)...)
}

// cutExcess removes from a value, and from the values in it, the fields that its schema
// does not have, and the items of a list beyond its maximum. It returns a fault for each
// removed field, at most memory.MaxFields of one object, and for each list, with paths
// within the value.
func cutExcess(schema *openapi3.Schema, value any) (faults []memory.Field) {
	schema = cmp.Or(alternative(schema, value), schema)
	switch v := value.(type) {
	case []any:
		if schema.Items == nil {
			return nil
		}
		for i, item := range v {
			for _, fault := range cutExcess(schema.Items.Value, item) {
				faults = append(faults, within(fmt.Sprintf("[%d]", i), fault))
			}
		}
	case map[string]any:
		return cutFields(schema, v)
	}
	return faults
}

// cutFields is cutExcess for an object.
func cutFields(schema *openapi3.Schema, fields map[string]any) (faults []memory.Field) {
	closed := schema.AdditionalProperties.Has != nil && !*schema.AdditionalProperties.Has
	var unknown []string
	for name, value := range fields {
		property := schema.Properties[name]
		if property == nil {
			if closed {
				unknown = append(unknown, name)
				delete(fields, name)
			}
			continue
		}
		list := cmp.Or(alternative(property.Value, value), property.Value)
		if items, ok := value.([]any); ok && list.MaxItems != nil && len(items) > int(*list.MaxItems) {
			faults = append(faults, memory.Field{Path: name, Message: tooManyItems(list)})
			value = items[:*list.MaxItems]
			fields[name] = value
		}
		for _, fault := range cutExcess(list, value) {
			faults = append(faults, within(name, fault))
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown[:min(len(unknown), memory.MaxFields)] {
		faults = append(faults, memory.Field{
			Path: clip(name), Message: unknownField + hintAt(name, propertiesOf(schema)),
		})
	}
	return faults
}

// within returns a fault of a part with its path within the whole.
func within(part string, fault memory.Field) memory.Field {
	fault.Path = joinPath(part, fault.Path)
	return fault
}
