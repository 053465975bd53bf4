package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"hippocampus/server/app"
	"hippocampus/server/config"
)

// run executes a command line with its own environment.
func run(t *testing.T, env []string, args ...string) (code int, out, errOut string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = execute(t.Context(), args, env, app.Host{Out: &stdout, Err: &stderr, Now: time.Now})
	return code, stdout.String(), stderr.String()
}

func TestExecute_Exits2OnWrongUsage(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		`unknown command "sreve"`:           {"sreve"},
		"unknown flag: --lisen":             {"serve", "--lisen", "x"},
		`unknown command "lst"`:             {"key", "lst"},
		"unknown command":                   {"serve", "now"},
		"is not key=value":                  {"serve", "--set", "recall.limit"},
		"`hippocampus key list` shows them": {"key", "revoke"},
		"accepts at most 1 arg":             {"export", "a", "b"},
		"accepts 1 arg(s)":                  {"import"},
		"give read, write, admin, operator": {"key", "create", "--role", "boss"},
		"is empty":                          {"key", "create", "--app", ""},
	} {
		code, out, errOut := run(t, nil, args...)
		if code != 2 || out != "" || strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, want) {
			t.Errorf("%q: exit %d, stdout %q, stderr %q, want %q", args, code, out, errOut, want)
		}
	}
}

func TestExecute_Exits1OnWrongSettings(t *testing.T) {
	t.Parallel()
	for _, command := range [][]string{
		{"serve"}, {"migrate"}, {"key", "list"}, {"key", "create"}, {"key", "revoke", "x"},
		{"healthcheck"}, {"verify"}, {"rebuild"}, {"partition"}, {"export"}, {"import", "x"},
		{"prompts", "try", "x"},
	} {
		for want, args := range map[string][]string{
			"did you mean recall.limit?":     {"--set", "recall.limt=3"},
			`listen is "here" (command line`: {"--listen", "here"},
			"dev is true (command line)":     {"--dev", "--listen", ":8080"},
			"no such file":                   {"--config", "/nowhere/h.yaml"},
		} {
			code, out, errOut := run(t, nil, append(command, args...)...)
			if code != 1 || out != "" || strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, want) {
				t.Errorf("%q %q: exit %d, stdout %q, stderr %q, want %q", command, args, code, out, errOut, want)
			}
		}
	}
	code, _, errOut := run(t, []string{"HIPPOCAMPUS_LISTN=:1"}, "serve")
	if code != 1 || !strings.Contains(errOut, "HIPPOCAMPUS_LISTEN?") {
		t.Errorf("exit %d, stderr %q", code, errOut)
	}
}

func TestExecute_PrintsHelp(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"--help"}, {"key"}, {"serve", "--help"}} {
		code, out, errOut := run(t, nil, args...)
		if code != 0 || errOut != "" || !strings.Contains(out, "--config") {
			t.Errorf("%q: exit %d, stdout %q, stderr %q", args, code, out, errOut)
		}
	}
}

func TestKey_CreatesListsAndRevokes(t *testing.T) {
	t.Parallel()
	env := []string{"HIPPOCAMPUS_DATA=" + t.TempDir()}
	if code, _, errOut := run(t, env, "key", "create"); code != 1 || !strings.Contains(errOut, "hippocampus migrate") {
		t.Fatalf("without a database: exit %d, stderr %q", code, errOut)
	}
	if code, _, errOut := run(t, env, "migrate"); code != 0 {
		t.Fatalf("exit %d, stderr %q", code, errOut)
	}
	code, secret, errOut := run(t, env, "key", "create", "--app", "shop", "--role", "read", "--user", "ada",
		"--name", "dashboard")
	if code != 0 || len(strings.Fields(secret)) != 1 || !strings.Contains(errOut, "in app shop, for the user ada alone") {
		t.Fatalf("exit %d, stdout %q, stderr %q", code, secret, errOut)
	}
	code, _, errOut = run(t, env, "key", "create")
	if code != 0 || !strings.Contains(errOut, "role write in app default") {
		t.Fatalf("exit %d, stderr %q", code, errOut)
	}
	list := func(args ...string) []string {
		code, out, errOut := run(t, env, append([]string{"key", "list"}, args...)...)
		if code != 0 || strings.Contains(out, strings.TrimSpace(secret)) {
			t.Fatalf("exit %d, stdout %q, stderr %q", code, out, errOut)
		}
		return strings.Split(strings.TrimSpace(out), "\n")
	}
	code, _, errOut = run(t, env, "key", "create", "--role", "operator")
	if code != 0 || !strings.Contains(errOut, "role operator for the whole server") {
		t.Fatalf("exit %d, stderr %q", code, errOut)
	}
	code, _, errOut = run(t, env, "key", "create", "--role", "operator", "--app", "shop")
	if code != 1 || !strings.Contains(errOut, "leave it out") {
		t.Fatalf("an operator's key of an app: exit %d, stderr %q", code, errOut)
	}
	for _, args := range [][]string{
		{"--user", ""}, {"--user", "ada", "--role", "admin"}, {"--memory", ""}, {"--memory", "none"},
	} {
		if code, _, errOut = run(t, env, append([]string{"key", "create"}, args...)...); code == 0 {
			t.Errorf("%q makes a key: %q", args, errOut)
		}
	}
	if row := strings.Fields(list()[3]); row[1] != "-" || row[3] != "operator" {
		t.Errorf("row %q", row)
	}
	if all, shop := list(), list("--app", "shop"); len(all) != 4 || len(shop) != 2 {
		t.Fatalf("want a heading and three keys, and a heading and one key: %q, %q", all, shop)
	}
	row := strings.Fields(list("--app", "shop")[1])
	if row[1] != "shop" || row[2] != "ada" || row[3] != "read" || row[4] != "on" || row[6] != "-" ||
		row[7] != "dashboard" {
		t.Fatalf("row %q", row)
	}
	if code, out, errOut := run(t, env, "key", "revoke", row[0]); code != 0 || !strings.Contains(out, row[0]) {
		t.Fatalf("exit %d, stdout %q, stderr %q", code, out, errOut)
	}
	if row := strings.Fields(list("--app", "shop")[1]); row[5] == "-" {
		t.Errorf("the revoked key has no date: %q", row)
	}
	if code, _, errOut := run(t, env, "key", "revoke", "unknown"); code != 1 || strings.Count(errOut, "\n") != 1 {
		t.Errorf("revoking an unknown key: exit %d, stderr %q", code, errOut)
	}
}

func TestHealthcheck_ReportsTheStatus(t *testing.T) {
	t.Parallel()
	var status atomic.Int32
	status.Store(http.StatusOK)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" {
			t.Errorf("requested %s", r.URL.Path)
		}
		w.WriteHeader(int(status.Load()))
	}))
	defer server.Close()
	listen := server.Listener.Addr().String()
	if code, out, errOut := run(t, nil, "healthcheck", "--listen", listen); code != 0 || out+errOut != "" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, out, errOut)
	}
	status.Store(http.StatusServiceUnavailable)
	if code, _, errOut := run(t, nil, "healthcheck", "--listen", listen); code != 1 || !strings.Contains(errOut, "503") {
		t.Errorf("exit %d, stderr %q", code, errOut)
	}
	server.Close()
	if code, _, errOut := run(t, nil, "healthcheck", "--listen", listen); code != 1 || strings.Count(errOut, "\n") != 1 {
		t.Errorf("exit %d, stderr %q", code, errOut)
	}
}

func TestOverrides_PreferFlagsToEnvironmentToFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "h.yaml")
	if err := os.WriteFile(file, []byte("data: file\nlisten: \":1\"\nrecall: {limit: 11}"), 0o600); err != nil {
		t.Fatal(err)
	}
	command := &cobra.Command{}
	o := newOverrides(command, []string{"HIPPOCAMPUS_LISTEN=:2", "HIPPOCAMPUS_DATA=env"})
	args := []string{
		"--config", file, "--data", "flag", "--dev=false",
		"--set", "recall.own_window=60s", "--set=recall.compare_limit=5",
	}
	if err := command.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	got, err := o.load()
	if err != nil {
		t.Fatal(err)
	}
	want := config.Default()
	want.Listen = ":2"
	want.Data = "flag"
	want.Recall.Limit = 11
	want.Recall.OwnWindow = time.Minute
	want.Recall.CompareLimit = 5
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
