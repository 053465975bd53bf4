package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/v2"

	"hippocampus/internal/memory"
)

// Sources is where settings come from, weakest first.
type Sources struct {
	File  string            // path of a YAML file; empty: what FileVariable in Env names, or none
	Env   []string          // NAME=VALUE lines, as os.Environ gives them
	Flags map[string]string // by setting: {"recall.limit": "20"}
}

// layer is what one source gives, by key.
type layer struct {
	values  map[string]any
	sources map[string]string // for people: "hippocampus.yaml:12"
}

// Load reads the sources over the defaults and checks the result. Its errors
// are of KindInvalid and fit on one line.
func Load(from Sources) (Config, error) {
	layers, err := read(from)
	if err != nil {
		return Config{}, err
	}
	merged, sources := koanf.New("."), map[string]string{}
	for _, l := range layers {
		if err := l.check(); err != nil {
			return Config{}, err
		}
		if err := merged.Load(confmap.Provider(l.values, "."), nil); err != nil {
			return Config{}, memory.Errorf(memory.KindInvalid, "merging the settings: %w", err)
		}
		maps.Copy(sources, l.sources)
	}
	c := Default()
	for _, s := range settings {
		if value := merged.Get(s.key); value != nil {
			if !s.set(&c, value) {
				return Config{}, bad(s, value, sources[s.key], s.want())
			}
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

// check refuses keys that name no setting, and drops sections and settings
// without a value.
func (l layer) check() error {
	for _, key := range slices.Sorted(maps.Keys(l.values)) {
		value, first := l.values[key], firstOf(key)
		_, known := byKey[key]
		_, isMap := value.(map[string]any) // an empty one: others are flattened
		switch {
		case known && value != nil:
		case known, first != "" && (value == nil || isMap):
			delete(l.values, key)
		case first != "":
			return memory.Errorf(memory.KindInvalid, "%s (%s) is a section: give its settings beneath it, such as %s", key, l.sources[key], first)
		default:
			return unknown("setting", key, l.sources[key], slices.Collect(Keys()))
		}
	}
	return nil
}

// unknown is the error of a name that nothing goes by.
func unknown(what, name, source string, known []string) error {
	hint := "deploy/hippocampus.example.yaml lists every setting"
	if near := nearest(name, known); near != "" {
		hint = "did you mean " + near + "?"
	}
	return memory.Errorf(memory.KindInvalid, "unknown %s %s%s: %s", what, oneLine(name), inBrackets(source), hint)
}

// bad is the error of a value that does not fit.
func bad(s setting, value any, source, want string) error {
	return memory.Errorf(memory.KindInvalid, "setting %s is %s%s: give %s", s.key, s.show(value), inBrackets(source), want)
}

func inBrackets(source string) string {
	if source == "" {
		return ""
	}
	return " (" + source + ")"
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
