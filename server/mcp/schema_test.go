package mcp_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The arguments have the limits that openapi.yaml states for the fields of the routes that the tools call.
func TestTools_StateTheLimitsOfTheAPI(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	contract, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, nil)
	answer, err := f.connect(f.write, "").ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]func(argument string) *openapi3.Schema{}
	for tool, path := range map[string]string{
		"search_memories": "/v1/recall", "get_context": "/v1/context", "add_memory": "/v1/memories",
	} {
		fields[tool] = bodyField(contract.Paths.Value(path).Post)
	}
	fields["update_memory"] = bodyField(contract.Paths.Value("/v1/memories/{id}").Patch)
	fields["list_memories"] = func(argument string) *openapi3.Schema {
		name := map[string]string{"types": "type", "tags": "tag", "statuses": "status"}[argument]
		if name == "" {
			name = argument
		}
		return contract.Paths.Value("/v1/memories").Get.Parameters.GetByInAndName("query", name).Schema.Value
	}
	for _, tool := range answer.Tools {
		for name, schema := range argumentsOf(tool) {
			if name == "memory_id" {
				continue
			}
			field := fields[tool.Name](name)
			if field == nil {
				t.Errorf("%s: the route has no field for the argument %s", tool.Name, name)
				continue
			}
			if diff := cmp.Diff(limitsOf(t, field), limitsOf(t, schema)); diff != "" {
				t.Errorf("%s: %s has other limits than openapi.yaml (-) states:\n%s", tool.Name, name, diff)
			}
		}
	}
}

func bodyField(o *openapi3.Operation) func(string) *openapi3.Schema {
	return func(argument string) *openapi3.Schema {
		if field := o.RequestBody.Value.Content.Get("application/json").Schema.Value.Properties[argument]; field != nil {
			return field.Value
		}
		return nil
	}
}

func argumentsOf(tool *sdk.Tool) map[string]any {
	return tool.InputSchema.(map[string]any)["properties"].(map[string]any)
}

// limitsOf returns the limits of a schema and of its items.
func limitsOf(t *testing.T, schema any) map[string]any {
	t.Helper()
	described, ok := schema.(*openapi3.Schema)
	if ok && len(described.AllOf) > 0 {
		return limitsOf(t, described.AllOf[0].Value)
	}
	raw, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	limits := map[string]any{}
	for _, name := range []string{
		"type", "format", "enum", "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems",
	} {
		if value, ok := all[name]; ok {
			limits[name] = value
		}
	}
	if items, ok := all["items"]; ok {
		if described != nil {
			items = described.Items.Value
		}
		limits["items"] = limitsOf(t, items)
	}
	return limits
}
