package exchange

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// Every field of a line that an export writes is in openapi.yaml, by which an import checks each line.
func TestLines_HaveTheFieldsOfTheContract(t *testing.T) {
	t.Parallel()
	document, err := openapi3.NewLoader().LoadFromFile("../server/api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	schemas := document.Components.Schemas
	fields := 0
	var walk func(path string, value reflect.Type, schema *openapi3.Schema)
	walk = func(path string, value reflect.Type, schema *openapi3.Schema) {
		switch value.Kind() {
		case reflect.Pointer:
			walk(path, value.Elem(), schema)
			return
		case reflect.Slice:
			if schema.Items != nil {
				walk(path+"[]", value.Elem(), schema.Items.Value)
			}
			return
		case reflect.Struct:
		default:
			return
		}
		if value.Implements(reflect.TypeFor[json.Marshaler]()) {
			return
		}
		for _, f := range reflect.VisibleFields(value) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" || name == "-" {
				continue
			}
			fields++
			property := schema.Properties[name]
			if path+"."+name == "line.events[].memory_id" {
				continue // a line names its memory once
			}
			if property == nil {
				t.Errorf("%s.%s is not in openapi.yaml", path, name)
				continue
			}
			walk(path+"."+name, f.Type, property.Value)
		}
	}
	walk("line", reflect.TypeFor[line](), schemas["ExportLine"].Value)
	if fields < 100 {
		t.Errorf("only %d fields were compared", fields)
	}
	allowed := schemas["ExportedTurn"].Value.Properties["status"].Value.Enum
	for _, status := range exportedTurns {
		if !slices.Contains(allowed, any(string(status))) {
			t.Errorf("the status %s of a turn is not in openapi.yaml", status)
		}
	}
}
