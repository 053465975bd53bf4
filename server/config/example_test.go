package config

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

const examplePath = "../../deploy/hippocampus.example.yaml"

// documented maps each key of the example file to the comments about it.
func documented(t *testing.T) (comments map[string]string, order []string) {
	t.Helper()
	data, err := os.ReadFile(examplePath)
	if err != nil {
		t.Fatal(err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		t.Fatal(err)
	}
	comments = map[string]string{}
	var walk func(mapping *yaml.Node, prefix string)
	walk = func(mapping *yaml.Node, prefix string) {
		for i := 0; i < len(mapping.Content); i += 2 {
			name, value := mapping.Content[i], mapping.Content[i+1]
			if value.Kind == yaml.MappingNode {
				walk(value, prefix+name.Value+".")
				continue
			}
			key := prefix + name.Value
			comments[key] = name.HeadComment + "\n" + value.LineComment
			order = append(order, key)
		}
	}
	walk(document.Content[0], "")
	return comments, order
}

func TestExample_IsTheDefault(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(Default(), load(t, Sources{File: examplePath})); diff != "" {
		t.Error(diff)
	}
}

func TestExample_NamesEverySetting(t *testing.T) {
	t.Parallel()
	_, order := documented(t)
	if diff := cmp.Diff(keys, order); diff != "" {
		t.Error(diff)
	}
}

var variableName = regexp.MustCompile(`\b[A-Z]+(_[A-Z0-9]+)+\b`)

func TestExample_NamesEveryAlias(t *testing.T) {
	t.Parallel()
	comments, _ := documented(t)
	for name, key := range aliases {
		if !strings.Contains(comments[key], "lso "+name) {
			t.Errorf("the comment on %s does not contain: also %s", key, name)
		}
	}
	known := slices.Collect(maps.Keys(aliases))
	for _, key := range keys {
		known = append(known, variable(key))
	}
	data, err := os.ReadFile(examplePath)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range variableName.FindAllString(string(data), -1) {
		if name != FileVariable && !slices.Contains(known, name) {
			t.Errorf("the example names %s, which no code reads", name)
		}
	}
}
