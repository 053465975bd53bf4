package test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestChart_RefusesWrongValues(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{replicas: 2}":                                         "one server can use",
		"{autoscaling: {enabled: true}}":                        "one server can use",
		"{secrets: {DATABASE_URL: postgres://db/x}}":            "set storage to postgres",
		"{storage: postgres}":                                   "DATABASE_URL",
		"{milvusTLS: {secret: certificates}}":                   "set config.milvus.host",
		"{storage: mysql}":                                      "storage",
		"{storag: sqlite}":                                      "storag",
		"{replicas: two}":                                       "replicas",
		"{replicas: -1}":                                        "replicas",
		"{image: {tag: 1}}":                                     "image/tag",
		"{image: {digest: sha256:1}}":                           "image/digest",
		"{config: {listen: 0.0.0.0:1}}":                         "config",
		"{secrets: {database-url: x}}":                          "database-url",
		"{persistence: {size: much}}":                           "persistence/size",
		"{persistence: {accessMode: ReadWriteMany}}":            "persistence/accessMode",
		"{service: {port: 0}}":                                  "service/port",
		"{metrics: {port: 8080}}":                               "metrics/port",
		"{ingress: {enabled: true}}":                            "ingress/hosts",
		"{ingress: {hosts: [{path: /}]}}":                       "ingress/hosts",
		"{existingSecrets: [{name: x}]}":                        "existingSecrets",
		"{env: [{value: x}]}":                                   "env",
		"{podDisruptionBudget: {maxUnavailable: all}}":          "podDisruptionBudget",
		"{metrics: {serviceMonitor: {interval: often}}}":        "serviceMonitor/interval",
		"{autoscaling: {targetCPUUtilizationPercentage: 1000}}": "autoscaling",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			values := map[string]any{}
			if err := yaml.Unmarshal([]byte(text), &values); err != nil {
				t.Fatal(err)
			}
			_, err := render(values)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the error is %v, want one with %q", err, want)
			}
		})
	}
}

// A changed setting or secret starts the pods again, and other changes do not.
func TestChart_RestartsPodsWithChangedSettings(t *testing.T) {
	t.Parallel()
	sum := func(changes string) string {
		t.Helper()
		values := valuesOf(t, "sqlite")
		changed := map[string]any{}
		if err := yaml.Unmarshal([]byte(changes), &changed); err != nil {
			t.Fatal(err)
		}
		maps.Copy(values, changed)
		rendered, err := render(values)
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(rendered["hippocampus/templates/server.yaml"], "checksum/config: ")
		line, _, _ := strings.Cut(after, "\n")
		if len(line) != 64 {
			t.Fatalf("the checksum is %q", line)
		}
		return line
	}
	before := sum("{}")
	if sum("{service: {port: 81}}") != before {
		t.Error("another port of the service changes the checksum")
	}
	for _, changes := range []string{
		"{config: {recall: {limit: 30}}}", "{secrets: {HIPPOCAMPUS_ADMIN_KEY: another-key-of-16}}",
	} {
		if sum(changes) == before {
			t.Errorf("%s does not change the checksum", changes)
		}
	}
}

// The schema describes every section of values.yaml and no other.
func TestValues_AreThoseOfTheSchema(t *testing.T) {
	t.Parallel()
	keys := func(path string, below ...string) []string {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]any{}
		if err := yaml.Unmarshal(text, &all); err != nil {
			t.Fatal(err)
		}
		for _, key := range below {
			all, _ = all[key].(map[string]any)
		}
		return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(key string) bool { return key == "global" })
	}
	values, schema := keys("../hippocampus/values.yaml"), keys("../hippocampus/values.schema.json", "properties")
	if fmt.Sprint(values) != fmt.Sprint(schema) {
		t.Errorf("values.yaml has %q, the schema %q", values, schema)
	}
}
