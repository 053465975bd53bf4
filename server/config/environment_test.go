package config

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVariable_IsUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, key := range keys {
		name := variable(key)
		if other, taken := seen[name]; taken {
			t.Errorf("%s is the variable of %s and of %s", name, other, key)
		}
		seen[name] = key
	}
	for name, key := range aliases {
		if !slices.Contains(keys, key) {
			t.Errorf("%s is an alias of %s, which is not a setting", name, key)
		}
	}
}

func TestLoad_ReadsAliases(t *testing.T) {
	t.Parallel()
	c := load(t, Sources{Env: []string{
		"DEEPSEEK_API_KEY=chat-key", "DEEPSEEK_API_BASE=http://chat/v1",
		"QWEN_API_KEY=embedding-key", "QWEN_API_BASE=http://embedding/v1",
		"MEMORY_EMBEDDING_MODEL=bge-m3", "MEMORY_SCORER_MODEL=judge", "MEMORY_ROUTER_MODEL=guide",
		"MILVUS_HOST=milvus.internal", "MILVUS_PORT=19531", "MILVUS_MEMORY_COLLECTION=other",
		"DATABASE_URL=postgres://me@db:5433/x?sslmode=disable",
		"HIPPOCAMPUS_LISTEN=0.0.0.0:9000", "HIPPOCAMPUS_DATA=/srv/data", "HIPPOCAMPUS_ADMIN_KEY=first-admin-key-1",
	}})
	want := Default()
	want.Chat.APIKey = "chat-key"
	want.Chat.BaseURL = "http://chat/v1"
	want.Chat.ScorerModel = "judge"
	want.Chat.RouterModel = "guide"
	want.Embedding.APIKey = "embedding-key"
	want.Embedding.BaseURL = "http://embedding/v1"
	want.Embedding.Model = "bge-m3"
	want.Milvus.Host = "milvus.internal"
	want.Milvus.Port = 19531
	want.Milvus.Collection = "other"
	want.Database.URL = "postgres://me@db:5433/x?sslmode=disable"
	want.Listen = "0.0.0.0:9000"
	want.Data = "/srv/data"
	want.AdminKey = "first-admin-key-1"
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
}

func TestLoad_PrefersAVariableToItsAlias(t *testing.T) {
	t.Parallel()
	own, alias := "HIPPOCAMPUS_MILVUS_HOST=own", "MILVUS_HOST=alias"
	for _, env := range [][]string{{own, alias}, {alias, own}} {
		if c := load(t, Sources{Env: env}); c.Milvus.Host != "own" {
			t.Errorf("milvus.host is %q from %q", c.Milvus.Host, env)
		}
	}
	if c := load(t, Sources{Env: []string{"HIPPOCAMPUS_MILVUS_HOST=", alias}}); c.Milvus.Host != "alias" {
		t.Errorf("milvus.host is %q: an empty variable hides its alias", c.Milvus.Host)
	}
}

func TestLoad_IgnoresVariablesOfOtherPrograms(t *testing.T) {
	t.Parallel()
	c := load(t, Sources{Env: []string{
		"HIPPOCAMPUS_TEST_POSTGRES_URL=postgres://x", "HIPPOCAMPUSES=2", "RECALL_LIMIT=3", "=C:=C:\\",
		"HIPPOCAMPUS_SERVICE_HOST=10.0.0.1", "HIPPOCAMPUS_SERVICE_PORT=8080", "HIPPOCAMPUS_SERVICE_PORT_HTTP=8080",
		"HIPPOCAMPUS_PORT=tcp://10.0.0.1:8080", "HIPPOCAMPUS_PORT_8080_TCP=tcp://10.0.0.1:8080",
		"HIPPOCAMPUS_PORT_8080_TCP_ADDR=10.0.0.1", "HIPPOCAMPUS_MILVUS_SERVICE_HOST=10.0.0.2",
		"MILVUS_PORT=tcp://10.0.0.2:19530", "HIPPOCAMPUS_MILVUS_PORT=tcp://10.0.0.2:19530",
	}})
	if diff := cmp.Diff(Default(), c); diff != "" {
		t.Error(diff)
	}
}

func TestLoad_NamesMisspeltAliases(t *testing.T) {
	t.Parallel()
	c := load(t, Sources{Env: []string{
		"DEEPSEEK_KEY=hush", "MILVUS_HOSTS=a", "QWEN_API_KEY=x", "QWEN_API_KEYS=y", "DATABASE=x", "MILVUS_SIZE_LIMIT=3",
		"DEEPSEEK_API_BAS=", "EDITOR=vi",
	}})
	want := []string{
		"the environment variable DEEPSEEK_KEY is not read: did you mean DEEPSEEK_API_KEY?",
		"the environment variable MILVUS_HOSTS is not read: did you mean MILVUS_HOST?",
	}
	if diff := cmp.Diff(want, c.Unread); diff != "" {
		t.Error(diff)
	}
}
