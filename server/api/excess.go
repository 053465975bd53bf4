package api

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"

	"hippocampus/internal/memory"
)

// faultsOf returns what is wrong with a JSON value by its schema. Its cost is bounded by the
// schema, not by the number of faults: what a value has in excess is removed from it first.
func faultsOf(schema *openapi3.Schema, value any) []memory.Field {
	var excess excess
	excess.cut(schema, value, "")
	err := schema.VisitJSON(value, openapi3.VisitAsRequest(), openapi3.MultiErrors())
	return append(excess.faults, fieldErrors("", err)...)
}

// excess holds the faults of the parts that were removed from a value.
type excess struct{ faults []memory.Field }

func (e *excess) add(path, message string) {
	e.faults = append(e.faults, memory.Field{Path: path, Message: message})
}

// cut removes from a value, and from the values in it, the fields that its schema does not
// have, and the items of a list beyond its most.
func (e *excess) cut(schema *openapi3.Schema, value any, path string) {
	schema = cmp.Or(alternative(schema, value), schema)
	switch v := value.(type) {
	case []any:
		if schema.Items == nil {
			return
		}
		for i, item := range v {
			e.cut(schema.Items.Value, item, joinPath(path, fmt.Sprintf("[%d]", i)))
		}
	case map[string]any:
		e.cutFields(schema, v, path)
	}
}

// cutFields is cut for an object. It reports at most memory.MaxFields unknown fields of it.
func (e *excess) cutFields(schema *openapi3.Schema, fields map[string]any, path string) {
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
		within := joinPath(path, name)
		list := cmp.Or(alternative(property.Value, value), property.Value)
		if items, ok := value.([]any); ok && list.MaxItems != nil && len(items) > int(*list.MaxItems) {
			e.add(within, tooManyItems(list))
			value = items[:*list.MaxItems]
			fields[name] = value
		}
		e.cut(list, value, within)
	}
	slices.Sort(unknown)
	for _, name := range unknown[:min(len(unknown), memory.MaxFields)] {
		e.add(joinPath(path, clip(name)), unknownField)
	}
}
