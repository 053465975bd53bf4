package config

import (
	"fmt"
	"os"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/v2"
	yamlv3 "gopkg.in/yaml.v3"

	"hippocampus/internal/memory"
)

// readFile reads a YAML file as a flat map with the line of each key.
func readFile(path string) (layer, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return layer{}, memory.Errorf(memory.KindInvalid, "read the configuration: %w: name a readable YAML file", err)
	}
	sections, err := yaml.Parser().Unmarshal(data)
	if err != nil {
		return layer{}, memory.Errorf(memory.KindInvalid,
			"%s is not a valid configuration: %s: compare it with deploy/hippocampus.example.yaml", path, oneLine(err.Error()))
	}
	flat := koanf.New(".")
	if err := flat.Load(confmap.Provider(sections, ""), nil); err != nil {
		return layer{}, memory.Errorf(memory.KindInvalid, "%s: %w", path, err)
	}
	found := layer{values: flat.All(), sources: map[string]string{}}
	lines := lineNumbers(data)
	for key := range found.values {
		found.sources[key] = fmt.Sprintf("%s:%d", path, lines[key])
	}
	return found, nil
}

// lineNumbers maps each key of a YAML document to its line.
func lineNumbers(data []byte) map[string]int {
	lines := map[string]int{}
	var walk func(node *yamlv3.Node, prefix string)
	walk = func(node *yamlv3.Node, prefix string) {
		for i := 0; node.Kind == yamlv3.MappingNode && i+1 < len(node.Content); i += 2 {
			name, value := node.Content[i], node.Content[i+1]
			lines[prefix+name.Value] = name.Line
			walk(value, prefix+name.Value+".")
		}
	}
	var document yamlv3.Node
	if yamlv3.Unmarshal(data, &document) == nil && len(document.Content) == 1 {
		walk(document.Content[0], "")
	}
	return lines
}
