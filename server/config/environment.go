package config

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// FileVariable names the environment variable that gives the file's path.
const FileVariable = prefix + "CONFIG"

// KeyVariable names the environment variable that gives the API key of the
// commands that ask a server. It is no setting.
const KeyVariable = prefix + "KEY"

const (
	prefix     = "HIPPOCAMPUS_"
	testPrefix = prefix + "TEST_" // read by tests alone
)

// aliases maps the names that users know from elsewhere to settings.
var aliases = map[string]string{
	"DATABASE_URL":             "database.url",
	"DEEPSEEK_API_KEY":         "chat.api_key",
	"DEEPSEEK_API_BASE":        "chat.base_url",
	"MEMORY_SCORER_MODEL":      "chat.scorer_model",
	"MEMORY_ROUTER_MODEL":      "chat.router_model",
	"QWEN_API_KEY":             "embedding.api_key",
	"QWEN_API_BASE":            "embedding.base_url",
	"MEMORY_EMBEDDING_MODEL":   "embedding.model",
	"MILVUS_HOST":              "milvus.host",
	"MILVUS_PORT":              "milvus.port",
	"MILVUS_MEMORY_COLLECTION": "milvus.collection",
}

// Aliases maps each environment variable that is read under a name of its own
// to its setting. Where both names are set, the HIPPOCAMPUS_ one counts.
func Aliases() map[string]string { return maps.Clone(aliases) }

// Variable is the environment variable of a setting: recall.limit becomes
// HIPPOCAMPUS_RECALL_LIMIT.
func Variable(key string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// variables maps the environment variable of each setting to its key. Keys
// hold underscores of their own, so a name is only ever looked up here, never
// taken apart.
var variables = func() map[string]string {
	names := make(map[string]string, len(settings))
	for _, s := range settings {
		names[Variable(s.key)] = s.key
	}
	return names
}()

// serviceLink matches what Kubernetes puts into the environment for each
// service of the namespace: with a service named hippocampus or milvus these
// fall among our names.
var serviceLink = regexp.MustCompile(`^[A-Z0-9_]+_(SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)|PORT_\d+_(TCP|UDP|SCTP)(_[A-Z]+)?)=|^[A-Z0-9_]+_PORT=(tcp|udp|sctp)://`)

// readEnvironment picks the settings out of NAME=VALUE lines. An empty value
// counts as not set.
func readEnvironment(env []string) (layer, error) {
	found := layer{values: map[string]any{}, sources: map[string]string{}}
	for _, canonical := range []bool{false, true} {
		for _, line := range env {
			name, value, _ := strings.Cut(line, "=")
			key, known := aliases[name]
			if canonical {
				key, known = variables[name]
			}
			if !known || value == "" || serviceLink.MatchString(line) {
				continue
			}
			found.values[key], found.sources[key] = value, "environment "+name
		}
	}
	for _, line := range env {
		name, _, _ := strings.Cut(line, "=")
		_, known := variables[name]
		if known || name == FileVariable || name == KeyVariable || !strings.HasPrefix(name, prefix) ||
			strings.HasPrefix(name, testPrefix) || serviceLink.MatchString(line) {
			continue
		}
		return layer{}, unknown("environment variable", name, "", append(slices.Collect(maps.Keys(variables)), FileVariable))
	}
	return found, nil
}

// Key is the API key in NAME=VALUE lines; empty: there is none.
func Key(env []string) string { return lookup(env, KeyVariable) }

// lookup returns the value of a variable in NAME=VALUE lines; the last counts.
func lookup(env []string, name string) (value string) {
	for _, line := range env {
		if v, ok := strings.CutPrefix(line, name+"="); ok {
			value = v
		}
	}
	return value
}
