package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hippocampus/internal/memory"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hippocampus.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t *testing.T, from Sources) Config {
	t.Helper()
	c, err := Load(from)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLoad_ReturnsTheDefaultIfNothingIsSet(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"empty file":      "",
		"only comments":   "# nothing\n",
		"empty sections":  "recall:\nchat: {}\n",
		"empty settings":  "recall:\n  limit:\nlisten:\n",
		"document marker": "---\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(Default(), load(t, Sources{File: write(t, file)})); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("no file", func(t *testing.T) {
		t.Parallel()
		if diff := cmp.Diff(Default(), load(t, Sources{})); diff != "" {
			t.Error(diff)
		}
	})
}

func TestLoad_PrefersFlagsToEnvironmentToFile(t *testing.T) {
	t.Parallel()
	file := write(t, "recall:\n  limit: 11\n  own_window: 61s\n  compare_limit: 71\ngate:\n  threshold: 1\n"+
		"router:\n  timeout: 1s500ms\n")
	c := load(t, Sources{
		File: file,
		Env: []string{
			"HIPPOCAMPUS_RECALL_OWN_WINDOW=62s", "HIPPOCAMPUS_RECALL_COMPARE_LIMIT=72", "HOME=/nowhere",
			"HIPPOCAMPUS_CHAT_TIMEOUT=",
		},
		Flags: map[string]string{"recall.compare_limit": "73", "dev": "true"},
	})
	want := Default()
	want.Recall.Limit = 11
	want.Recall.OwnWindow = 62 * time.Second
	want.Recall.CompareLimit = 73
	want.Gate.Threshold = 1
	want.Router.Timeout = 1500 * time.Millisecond
	want.Dev = true
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
}

func TestLoad_ReadsTheFileThatTheEnvironmentNames(t *testing.T) {
	t.Parallel()
	named, given := write(t, "data: named"), write(t, "data: given")
	env := []string{FileVariable + "=" + named}
	if c := load(t, Sources{Env: env}); c.Data != "named" {
		t.Errorf("data is %q from the file in the environment", c.Data)
	}
	if c := load(t, Sources{File: given, Env: env}); c.Data != "given" {
		t.Errorf("data is %q from the file on the command line", c.Data)
	}
}

// errorCases are wrong inputs with the texts that their errors contain.
var errorCases = map[string]struct {
	file  string
	env   []string
	flags map[string]string
	want  []string
}{
	"unknown key": {
		file: "listen: \":80\"\nrecall:\n  limt: 3\n",
		want: []string{"recall.limt", ":3)", "did you mean recall.limit?"},
	},
	"unknown section": {
		file: "recal:\n  limit: 3\n",
		want: []string{"recal.limit", "did you mean recall.limit?"},
	},
	"far from every key": {
		file: "zzzzzzzzzz: 3\n",
		want: []string{"zzzzzzzzzz", "example.yaml lists every setting"},
	},
	"setting as a section": {
		file: "listen:\n  host: x\n",
		want: []string{"unknown setting listen.host"},
	},
	"section as a setting": {
		file: "recall: 3\n",
		want: []string{"recall (", ":1) is a section", "recall.limit"},
	},
	"key with a number": {
		file: "1: 2\n",
		want: []string{"1"},
	},
	"same key twice": {
		file: "data: a\ndata: b\n",
		want: []string{"already defined"},
	},
	"not a mapping": {
		file: "- data\n",
		want: []string{"is not a valid configuration"},
	},
	"origin with a path": {
		flags: map[string]string{"api.cors_origins": "https://chat.example.com,https://other.example.com/"},
		want:  []string{"api.cors_origins", "origins such as https://chat.example.com"},
	},
	"a proxy by its name": {
		flags: map[string]string{"api.trusted_proxies": "10.0.0.0/8,proxy"},
		want:  []string{"api.trusted_proxies", "networks such as 10.0.0.0/8"},
	},
	"any origin": {
		env:  []string{"HIPPOCAMPUS_API_CORS_ORIGINS=*"},
		want: []string{"HIPPOCAMPUS_API_CORS_ORIGINS", "origins such as"},
	},
	"broken YAML": {
		file: "recall: {limit: 3\nx",
		want: []string{"is not a valid configuration", "hippocampus.yaml"},
	},
	"unknown variable": {
		env:  []string{"HIPPOCAMPUS_RECAL_LIMIT=3"},
		want: []string{"HIPPOCAMPUS_RECAL_LIMIT", "did you mean HIPPOCAMPUS_RECALL_LIMIT?"},
	},
	"unknown flag setting": {
		flags: map[string]string{"recall.limits": "3"},
		want:  []string{"recall.limits (command line)", "did you mean recall.limit?"},
	},
	"text for a number": {
		env:  []string{"HIPPOCAMPUS_RECALL_LIMIT=ten"},
		want: []string{`recall.limit is "ten" (environment HIPPOCAMPUS_RECALL_LIMIT)`, "a whole number from 1 to 100"},
	},
	"fraction for a count": {
		file: "recall: {limit: 3.5}",
		want: []string{"recall.limit is 3.5", "a whole number"},
	},
	"list for a number": {
		file: "recall: {limit: [3]}",
		want: []string{"recall.limit is [3]", "a whole number"},
	},
	"number over its range": {
		flags: map[string]string{"recall.limit": "101"},
		want:  []string{"recall.limit is 101 (command line)", "1 to 100"},
	},
	"number over all ranges": {
		file: "recall: {limit: 99999999999999999999}",
		want: []string{"recall.limit", "a whole number"},
	},
	"not a number": {
		file: "gate: {threshold: .nan}",
		want: []string{"gate.threshold is NaN", "0 to 1"},
	},
	"infinite": {
		flags: map[string]string{"recall.relevance": "inf"},
		want:  []string{"recall.relevance is +Inf"},
	},
	"duration without unit": {
		file: "router: {timeout: 800}",
		want: []string{"router.timeout is 800", "a duration with its unit"},
	},
	"negative duration": {
		file: "router: {timeout: -1s}",
		want: []string{"router.timeout is -1s", "1ms to 1m"},
	},
	"word for a boolean": {
		file: "dev: yes please",
		want: []string{"dev is", "true or false"},
	},
	"number for a text": {
		file: "admin_key: 1234567890123456",
		want: []string{"admin_key is (hidden)", "ASCII"},
	},
	"weak admin key": {
		env:  []string{"HIPPOCAMPUS_ADMIN_KEY=fifteen-letters"},
		want: []string{"admin_key is (hidden)", "at least 16", "openssl rand -hex 32"},
	},
	"secret in an error": {
		env:  []string{"DEEPSEEK_API_KEY=sk hush"},
		want: []string{"chat.api_key is (hidden) (environment DEEPSEEK_API_KEY)"},
	},
	"password in a DSN of keywords": {
		env:  []string{"DATABASE_URL=host=127.0.0.1 user=hippocampus password=hush dbname=memories"},
		want: []string{"database.url is (hidden)", "postgres://USER:PASSWORD@HOST:PORT/NAME"},
	},
	"address without port": {
		flags: map[string]string{"listen": "localhost"},
		want:  []string{"HOST:PORT"},
	},
	"port out of range": {
		flags: map[string]string{"listen": "localhost:65536"},
		want:  []string{"HOST:PORT"},
	},
	"other database": {
		env:  []string{"DATABASE_URL=mysql://root:hush@db/x"},
		want: []string{"database.url", "root:xxxxx@db", "postgres://"},
	},
	"host with a scheme": {
		env:  []string{"MILVUS_HOST=http://milvus"},
		want: []string{"milvus.host", "without scheme"},
	},
	"Milvus user without a password": {
		env:  []string{"MILVUS_USER=ada"},
		want: []string{`milvus.password is "": give milvus.user and milvus.password`},
	},
	"Milvus password without a user": {
		env:  []string{"MILVUS_PASSWORD=hush"},
		want: []string{"milvus.password is (hidden) (environment MILVUS_PASSWORD)"},
	},
	"two credentials of Milvus": {
		env:  []string{"MILVUS_USER=ada", "MILVUS_PASSWORD=hush", "MILVUS_TOKEN=hush"},
		want: []string{`milvus.user is "ada"`, "milvus.token"},
	},
	"Milvus API key without TLS": {
		file: "milvus: {api_key: hush}",
		want: []string{"milvus.tls.enabled is false", "milvus.api_key"},
	},
	"TLS files without TLS": {
		file: "milvus: {tls: {ca_file: ca.pem}}",
		want: []string{"milvus.tls.enabled is false", "true"},
	},
	"TLS certificate without its key": {
		file: "milvus: {tls: {enabled: true, cert_file: a.pem}}",
		want: []string{`milvus.tls.key_file is ""`, "milvus.tls.cert_file"},
	},
	"unknown mode": {
		file: "recall: {mode: best}",
		want: []string{"modulated or additive"},
	},
	"base without scheme": {
		env:  []string{"QWEN_API_BASE=localhost:11434/v1"},
		want: []string{`embedding.base_url is "localhost:11434/v1"`, "https://"},
	},
	"missing file": {
		env:  []string{"HIPPOCAMPUS_CONFIG=/nowhere/h.yaml"},
		want: []string{"/nowhere/h.yaml", "no such file"},
	},
	"dev beyond loopback": {
		flags: map[string]string{"dev": "true", "listen": "0.0.0.0:8080"},
		want:  []string{"dev is true (command line)", "loopback"},
	},
	"unknown schedule": {
		file: "schedule: {purge: soon}",
		want: []string{`schedule.purge is "soon"`, ":1)", `a cron expression in UTC, such as "0 3 * * *" or "@every 15m"`},
	},
	"minute out of range": {
		env:  []string{"HIPPOCAMPUS_SCHEDULE_PURGE=61 * * * *"},
		want: []string{`"61 * * * *" (environment HIPPOCAMPUS_SCHEDULE_PURGE)`},
	},
	"day that never comes": {
		file: "schedule: {purge: 0 0 30 2 *}",
		want: []string{`"0 0 30 2 *"`, "a cron expression"},
	},
	"schedule of a zone": {
		file: "schedule: {purge: TZ=0}",
		want: []string{`"TZ=0"`, "in UTC"},
	},
	"pace under a second": {
		file: "schedule: {purge: '@every -5m'}",
		want: []string{`"@every -5m"`, "1s or more"},
	},
	"unknown policy": {
		file: "forgetting: {policy: amnesia}",
		want: []string{"strengthening or exponential"},
	},
	"no weights": {
		file: "recall: {relevance: 0, decay: 0, importance: 0}",
		want: []string{"recall.relevance is 0", "recall.importance"},
	},
	"unknown part of the ranking": {
		file: "recall: {without: \"words,meaning\"}",
		want: []string{`recall.without is "words,meaning"`, "any of words, vectors,"},
	},
	"job shorter than its models": {
		file: "jobs: {timeout: 1m}",
		want: []string{"jobs.timeout is 1m0s", "more than 2m40s"},
	},
	"removed setting": {
		file: "recall:\n  bm25_k1: 2\n",
		want: []string{"unknown setting recall.bm25_k1", ":2): it is no longer a setting, remove it"},
	},
	"removed variable": {
		env:  []string{"HIPPOCAMPUS_API_BODY_LIMIT=1"},
		want: []string{"unknown environment variable HIPPOCAMPUS_API_BODY_LIMIT: it is no longer a setting, remove it"},
	},
}

func TestLoad_ReturnsOneUsefulLineForAnError(t *testing.T) {
	t.Parallel()
	for name, c := range errorCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from := Sources{Env: c.env, Flags: c.flags}
			if c.file != "" {
				from.File = write(t, c.file)
			}
			_, err := Load(from)
			if !memory.IsKind(err, memory.KindInvalid) {
				t.Fatalf("kind %q, error %v", memory.KindOf(err), err)
			}
			t.Log(err)
			text := err.Error()
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("%q does not contain %q", text, want)
				}
			}
			if strings.Contains(text, "\n") || strings.Contains(text, "hush") {
				t.Errorf("%q is more than one line, or shows a secret", text)
			}
		})
	}
}
