package app

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"hippocampus/server/config"
)

// The rules make generated clients readable: contracts have names that a generator can use.
func TestDocuments_SuitGenerators(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Listen, cfg.Data, cfg.AdminKey = "127.0.0.1:0", t.TempDir(), testKey
	s := start(t, cfg)
	t.Cleanup(s.stop)
	for _, path := range []string{"/openapi.yaml", "/openapi/mem0.yaml", "/openapi/proxy.yaml"} {
		t.Run(path, func(t *testing.T) {
			text := s.get(path)
			doc, err := openapi3.NewLoader().LoadFromData([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
				t.Error(err)
			}
			if doc.Info.Contact == nil || doc.Info.License == nil {
				t.Error("the document has no contact or no licence")
			}
			checkOperations(t, doc)
			checkSchemas(t, doc)
			checkComponents(t, doc.Components, text)
		})
	}
}

// Operation ids consist of a verb and a noun, since single words collide with keywords of programming languages.
func checkOperations(t *testing.T, doc *openapi3.T) {
	t.Helper()
	name := regexp.MustCompile(`^[a-z]+([A-Z][a-z0-9]*)+$`)
	seen := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if !name.MatchString(op.OperationID) || seen[op.OperationID] {
				t.Errorf("%s %s: the operation id %q is used twice, or is not a verb and a noun", method, path, op.OperationID)
			}
			seen[op.OperationID] = true
			if op.Summary == "" || op.Description == "" || len(op.Tags) == 0 {
				t.Errorf("%s %s has no summary, description or tag", method, path)
			}
			for _, tag := range op.Tags {
				if doc.Tags.Get(tag) == nil {
					t.Errorf("%s %s: the tag %s is not described", method, path, tag)
				}
			}
			refuses := func(status string) bool { return strings.HasPrefix(status, "4") || status == "default" }
			if !slices.ContainsFunc(op.Responses.Keys(), refuses) {
				t.Errorf("%s %s states no refusal", method, path)
			}
		}
	}
}

func checkSchemas(t *testing.T, doc *openapi3.T) {
	t.Helper()
	component := regexp.MustCompile(`^/components/schemas/\w+$`)
	err := doc.WalkSchemas(func(pointer string, ref *openapi3.SchemaRef) error {
		if strings.Contains(pointer, "/not") { // conditions, which are no types
			return nil
		}
		s := ref.Value
		named := ref.Ref != "" || component.MatchString(pointer)
		switch {
		case !named && len(s.Properties) > 0:
			t.Errorf("%s is an object without a name: make it a component", pointer)
		case named && s.Description == "":
			t.Errorf("%s has no description", pointer)
		case s.Nullable && s.Type.IsEmpty():
			t.Errorf("%s is nullable without a type, which OpenAPI 3.0 ignores", pointer)
		case len(s.AllOf) == 1:
			t.Errorf("%s is an allOf of one schema", pointer)
		case len(s.OneOf) > 0 && s.Discriminator == nil && !slices.ContainsFunc(s.OneOf, isScalar):
			t.Errorf("%s is a oneOf of objects without a discriminator", pointer)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func isScalar(ref *openapi3.SchemaRef) bool { return !ref.Value.Type.Is(openapi3.TypeObject) }

// A generator makes a type of each component, so each needs a name of its own.
func checkComponents(t *testing.T, c *openapi3.Components, text string) {
	t.Helper()
	seen := map[string]bool{}
	check := func(kind, name string) {
		if seen[name] {
			t.Errorf("%s is the name of two components", name)
		}
		seen[name] = true
		if !strings.Contains(text, `"#/components/`+kind+"/"+name+`"`) {
			t.Errorf("nothing uses the component %s/%s", kind, name)
		}
	}
	for name := range c.Schemas {
		check("schemas", name)
	}
	for name := range c.Parameters {
		check("parameters", name)
	}
	for name := range c.Responses {
		check("responses", name)
	}
	for name := range c.RequestBodies {
		check("requestBodies", name)
	}
	for name := range c.Headers {
		check("headers", name)
	}
}
