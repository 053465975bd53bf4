package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"hippocampus/internal/nearest"
)

// FileVariable names the environment variable that holds the file's path.
const FileVariable = prefix + "CONFIG"

// The environment variables of the commands that send requests to a server. They are not settings.
const (
	KeyVariable   = prefix + "KEY"   // the API key
	URLVariable   = prefix + "URL"   // the server's address
	UserVariable  = prefix + "USER"  // the user whose memories are meant
	LoginVariable = prefix + "LOGIN" // the name of a login
)

var clientVariables = []string{KeyVariable, URLVariable, UserVariable, LoginVariable}

const (
	prefix     = "HIPPOCAMPUS_"
	testPrefix = prefix + "TEST_" // read by tests only
)

// aliases maps each second name of an environment variable to its setting. If
// both names are set, the HIPPOCAMPUS_ name wins.
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
	"MILVUS_USER":              "milvus.user",
	"MILVUS_PASSWORD":          "milvus.password",
	"MILVUS_TOKEN":             "milvus.token",
	"MILVUS_MEMORY_COLLECTION": "milvus.collection",
}

// variable returns the environment variable of a setting:
// HIPPOCAMPUS_RECALL_LIMIT for recall.limit.
func variable(key string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// variables maps the environment variable of each setting to its key. A variable
// cannot be split into its key, since keys contain underscores.
var variables = func() map[string]string {
	names := make(map[string]string, len(settings))
	for _, s := range settings {
		names[variable(s.key)] = s.key
	}
	return names
}()

// serviceLink matches the variables that Kubernetes sets for each service of the namespace.
// The variables of a service named hippocampus or milvus look like settings.
var serviceLink = regexp.MustCompile(`^[A-Z0-9_]+_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)=` +
	`|^[A-Z0-9_]+_PORT_\d+_(TCP|UDP|SCTP)(_[A-Z]+)?=` +
	`|^[A-Z0-9_]+_PORT=(tcp|udp|sctp)://`)

// readEnvironment reads the settings among NAME=VALUE lines. An empty value
// counts as not set.
func readEnvironment(env []string) layer {
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
		if known || name == FileVariable || slices.Contains(clientVariables, name) || !strings.HasPrefix(name, prefix) ||
			strings.HasPrefix(name, testPrefix) || serviceLink.MatchString(line) {
			continue
		}
		names := slices.Concat(slices.Collect(maps.Keys(variables)), clientVariables, []string{FileVariable})
		found.faults = append(found.faults, unknown("environment variable", name, "", names))
	}
	return found
}

// unread returns a sentence for each variable that is probably a misspelt alias, such as DEEPSEEK_KEY: one with the
// first word and almost the name of an alias that is not set. The variable may belong to another program, so that it is
// no fault.
func unread(env []string) (list []string) {
	firstWord := func(name string) string { return name[:strings.Index(name, "_")+1] }
	for _, line := range env {
		name, value, _ := strings.Cut(line, "=")
		_, known := aliases[name]
		if known || value == "" || strings.HasPrefix(name, prefix) || serviceLink.MatchString(line) {
			continue
		}
		near := nearest.Name(name, slices.Collect(maps.Keys(aliases)))
		if near != "" && firstWord(near) == firstWord(name) && Lookup(env, near) == "" {
			list = append(list, fmt.Sprintf("the environment variable %s is not read: did you mean %s?", oneLine(name), near))
		}
	}
	return list
}

// Lookup returns the last value of a variable in NAME=VALUE lines, or "".
func Lookup(env []string, name string) (value string) {
	for _, line := range env {
		if v, ok := strings.CutPrefix(line, name+"="); ok {
			value = v
		}
	}
	return value
}
