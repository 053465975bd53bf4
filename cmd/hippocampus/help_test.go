package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/spf13/cobra"

	"hippocampus/cmd/hippocampus/exit"
	"hippocampus/cmd/hippocampus/memories"
	"hippocampus/server/app"
)

// walk calls f with every command that can be run.
func walk(cmd *cobra.Command, f func(*cobra.Command)) {
	for _, sub := range cmd.Commands() {
		if sub.Runnable() {
			f(sub)
		}
		walk(sub, f)
	}
}

func TestCommands_HaveExamplesAndGroups(t *testing.T) {
	t.Parallel()
	root := newRoot(nil, app.Host{Now: time.Now})
	walk(root, func(cmd *cobra.Command) {
		if !strings.Contains(cmd.Example, " "+cmd.Name()) {
			t.Errorf("%s has no example of itself: %q", cmd.CommandPath(), cmd.Example)
		}
		if cmd.Parent() == root && cmd.GroupID == "" {
			t.Errorf("%s is in no group", cmd.CommandPath())
		}
	})
}

func TestCommands_AskRoutesOfTheDocument(t *testing.T) {
	t.Parallel()
	document, err := openapi3.NewLoader().LoadFromFile("../../server/api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	walk(newRoot(nil, app.Host{Now: time.Now}), func(cmd *cobra.Command) {
		for route := range strings.Lines(cmd.Annotations[memories.Routes]) {
			method, path, _ := strings.Cut(strings.TrimSpace(route), " ")
			asked++
			if item := document.Paths.Find(path); item == nil || item.GetOperation(method) == nil {
				t.Errorf("%s asks %s, which openapi.yaml lacks", cmd.CommandPath(), route)
			}
		}
	})
	if asked < 15 {
		t.Errorf("only %d routes are asked", asked)
	}
}

func TestDocumentation_HasEveryCommandAndExitCode(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../docs/command-line.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	for line := range strings.Lines(exit.Table()) {
		code, text, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if !strings.Contains(page, "| "+code+" | "+text+" |") {
			t.Errorf("docs/command-line.md lacks the exit code %q", line)
		}
	}
	root := newRoot(nil, app.Host{Now: time.Now})
	for _, cmd := range root.Commands() {
		if cmd.Runnable() && !strings.Contains(page, "`"+cmd.Name()+"`") {
			t.Errorf("docs/command-line.md lacks the command %s", cmd.Name())
		}
	}
	if code, out, _ := run(t, nil, "help", "exit-codes"); code != 0 || !strings.Contains(out, exit.Table()) {
		t.Errorf("help exit-codes: exit %d: %s", code, out)
	}
}

func TestExecute_SuggestsCommandsAndFlags(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"did you mean recall?: see hippocampus --help":        {"recal"},
		"did you mean create?: see hippocampus key --help":    {"key", "creat"},
		"did you mean recall?: see hippocampus help --help":   {"help", "recal"},
		`"hippocampus key": did you mean create?`:             {"help", "key", "creat"},
		"did you mean --user?: see hippocampus recall --help": {"recall", "x", "--usr", "ada"},
	} {
		if code, _, errOut := run(t, nil, args...); code != exit.Usage || !strings.Contains(errOut, want) {
			t.Errorf("%q: exit %d, stderr %q, want %q", args, code, errOut, want)
		}
	}
}
