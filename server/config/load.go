package config

import (
	"maps"
	"slices"
	"strings"

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
}

// Load merges the sources over the defaults and checks the result. Its errors
// are of KindInvalid and one line long.
func Load(from Sources) (Config, error) {
	layers, err := read(from)
	if err != nil {
		return Config{}, err
	}
	values, sources := map[string]any{}, map[string]string{}
	for _, l := range layers {
		if err := l.check(); err != nil {
			return Config{}, err
		}
		maps.Copy(values, l.values)
		maps.Copy(sources, l.sources)
	}
	c := Default()
	for _, s := range settings {
		if value, ok := values[s.key]; ok && !s.set(&c, value) {
			return Config{}, wrongValue(s, value, sources[s.key], s.rule.want)
		}
	}
	return c, c.validate(sources)
}

func read(from Sources) ([]layer, error) {
	env, err := readEnvironment(from.Env)
	if err != nil {
		return nil, err
	}
	layers := []layer{env, readFlags(from.Flags)}
	path := from.File
	if path == "" {
		path = lookup(from.Env, FileVariable)
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

// check refuses unknown keys, and removes sections and settings without a value.
func (l layer) check() error {
	for _, key := range slices.Sorted(maps.Keys(l.values)) {
		value, first := l.values[key], firstOf(key)
		_, known := byKey[key]
		_, isMap := value.(map[string]any) // an empty section: others are flattened
		switch {
		case known && value != nil:
		case known, first != "" && (value == nil || isMap):
			delete(l.values, key)
		case first != "":
			return memory.Errorf(memory.KindInvalid, "%s (%s) is a section: put its settings below it, such as %s",
				key, l.sources[key], first)
		default:
			return unknown("setting", key, l.sources[key], keys)
		}
	}
	return nil
}

// unknown is the error of a name that no setting has.
func unknown(what, name, source string, known []string) error {
	hint := "deploy/hippocampus.example.yaml lists every setting"
	if removed(name) {
		hint = "it is no longer a setting, remove it"
	} else if near := nearest(name, known); near != "" {
		hint = "did you mean " + near + "?"
	}
	return memory.Errorf(memory.KindInvalid, "unknown %s %s%s: %s", what, oneLine(name), inBrackets(source), hint)
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
