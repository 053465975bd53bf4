// Command genrequests writes what the server needs of openapi.yaml to check requests. It is run by go generate in
// server/api:
//
//	openapi.yaml -> parameters and body of each operation, and the components that these name, without prose
//	     -> requests.json: "POST /v1/turns": a document with this operation alone
//
// A server reads the document of an operation when it is asked for it first.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

func main() {
	log.SetFlags(0)
	text, err := generate("openapi.yaml")
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("requests.json", text, 0o600); err != nil {
		log.Fatal(err)
	}
}

// generate returns the text of requests.json for a document.
func generate(path string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	var document struct {
		OpenAPI    string
		Paths      map[string]map[string]any
		Components map[string]map[string]any
	}
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	operations := map[string]any{}
	for path, item := range document.Paths {
		for method, operation := range item {
			if fields, ok := operation.(map[string]any); ok {
				r := reduction{all: document.Components, named: map[string]map[string]any{}}
				part := map[string]any{method: only(fields, "parameters", "requestBody")}
				maps.Copy(part, only(item, "parameters"))
				r.keep(part)
				operations[strings.ToUpper(method)+" "+path] = map[string]any{
					"openapi": document.OpenAPI, "paths": map[string]any{path: part}, "components": r.named,
				}
			}
		}
	}
	return lines(operations)
}

// lines returns a JSON object with one operation a line.
func lines(operations map[string]any) ([]byte, error) {
	var text bytes.Buffer
	for i, name := range slices.Sorted(maps.Keys(operations)) {
		document, err := json.Marshal(operations[name])
		if err != nil {
			return nil, err
		}
		separator := ",\n"
		if i == 0 {
			separator = "{\n"
		}
		fmt.Fprintf(&text, "%s%q: %s", separator, name, document)
	}
	text.WriteString("\n}\n")
	return text.Bytes(), nil
}

// only returns the fields with these names.
func only(fields map[string]any, names ...string) map[string]any {
	kept := map[string]any{}
	for _, name := range names {
		if value, ok := fields[name]; ok {
			kept[name] = value
		}
	}
	return kept
}

// reduction collects the components that are named.
type reduction struct{ all, named map[string]map[string]any } // kind, such as "schemas": name: component

// keep removes the prose in a part of the document, and adds the components that it names.
func (r reduction) keep(part any) {
	switch part := part.(type) {
	case []any:
		for _, item := range part {
			r.keep(item)
		}
	case map[string]any:
		for _, prose := range []string{"description", "example", "examples"} {
			delete(part, prose)
		}
		if ref, ok := part["$ref"].(string); ok {
			r.add(ref)
		}
		for key, value := range part {
			properties, ok := value.(map[string]any)
			if key != "properties" || !ok {
				r.keep(value)
				continue
			}
			for _, property := range properties { // whose names may be those of keywords
				r.keep(property)
			}
		}
	}
}

// add adds the component that ref, such as "#/components/schemas/Content", names.
func (r reduction) add(ref string) {
	kind, name, _ := strings.Cut(strings.TrimPrefix(ref, "#/components/"), "/")
	if r.named[kind] == nil {
		r.named[kind] = map[string]any{}
	}
	if _, known := r.named[kind][name]; known {
		return
	}
	component := r.all[kind][name]
	r.named[kind][name] = component
	r.keep(component)
}
