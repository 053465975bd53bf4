package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/v2"
	yamlv3 "gopkg.in/yaml.v3"

	"hippocampus/internal/memory"
)

// Sources are where settings come from. A later field overrides an earlier one.
type Sources struct {
	File  string            // path of a YAML file; empty: the path in FileVariable, if Env has it
	Env   []string          // NAME=VALUE lines, as of os.Environ
	Flags map[string]string // by key: {"recall.limit": "20"}
}

// layer holds the values of one source, by key.
type layer struct {
	values  map[string]any
	sources map[string]string // for people: "hippocampus.yaml:12"
	faults  []error           // for what is not a setting
}

// Load merges the sources over the defaults and checks the result. Its errors
// are of KindInvalid and one line long.
func Load(from Sources) (Config, error) {
	layers, err := read(from)
	if err != nil {
		return Config{}, err
	}
	values, sources := map[string]any{}, map[string]string{}
	var faults []error
	for _, l := range layers {
		faults = append(faults, l.check()...)
		maps.Copy(values, l.values)
		maps.Copy(sources, l.sources)
	}
	c := Default()
	c.Unread = unread(from.Env)
	for _, s := range settings {
		if value, ok := values[s.key]; ok && !s.set(&c, value) {
			faults = append(faults, wrongValue(s, value, sources[s.key], s.rule.want))
		}
	}
	if err := c.setAppQuotas(values, sources); err != nil {
		faults = append(faults, err)
	}
	return c, inOne(append(faults, c.validate(sources)...))
}

// inOne returns all faults as one error of one line; nil without faults.
func inOne(faults []error) error {
	if len(faults) < 2 {
		return errors.Join(faults...)
	}
	lines := make([]string, len(faults))
	for i, fault := range faults {
		lines[i] = fault.Error()
	}
	return memory.Errorf(memory.KindInvalid, "%d settings are wrong: %s", len(faults), strings.Join(lines, "; "))
}

func read(from Sources) ([]layer, error) {
	layers := []layer{readEnvironment(from.Env), readFlags(from.Flags)}
	path := from.File
	if path == "" {
		path = Lookup(from.Env, FileVariable)
	}
	if path == "" {
		return layers, nil
	}
	file, err := readFile(path)
	return slices.Insert(layers, 0, file), err
}

func readFlags(flags map[string]string) layer {
	found := layer{values: map[string]any{}, sources: map[string]string{}}
	for key, value := range flags {
		found.values[key], found.sources[key] = value, "command line"
	}
	return found
}

// check returns a fault for each unknown key. It removes unknown keys, sections, and settings without a value.
func (l layer) check() (faults []error) {
	faults = l.faults
	for _, key := range slices.Sorted(maps.Keys(l.values)) {
		value, first := l.values[key], firstOf(key)
		_, known := byKey[key]
		_, _, ofApp := appQuota(key)
		known = known || ofApp
		_, isMap := value.(map[string]any) // an empty section: others are flattened
		switch {
		case known && value != nil:
		case known, first != "" && (value == nil || isMap):
			delete(l.values, key)
		case first != "":
			faults = append(faults, memory.Errorf(memory.KindInvalid,
				"%s (%s) is a section: put its settings below it, such as %s", key, l.sources[key], first))
			delete(l.values, key)
		default:
			faults = append(faults, unknown("setting", key, l.sources[key], keys))
			delete(l.values, key)
		}
	}
	return faults
}

// wrongValue is the error of a value that a setting cannot have.
func wrongValue(s setting, value any, source, want string) error {
	return memory.Errorf(memory.KindInvalid, "setting %s is %s%s: give %s",
		s.key, s.show(value), inBrackets(source), want)
}

func inBrackets(source string) string {
	if source == "" {
		return ""
	}
	return " (" + source + ")"
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

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
