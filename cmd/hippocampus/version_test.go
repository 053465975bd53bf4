package main

import (
	"encoding/json"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// recorded returns the build information of a program with these settings.
func recorded(settings ...debug.BuildSetting) func() (*debug.BuildInfo, bool) {
	return func() (*debug.BuildInfo, bool) {
		return &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: settings}, true
	}
}

func TestVersion_ReportsWhatTheBuildRecorded(t *testing.T) {
	t.Parallel()
	b := buildOf("v1.2.3", recorded(
		debug.BuildSetting{Key: "vcs.revision", Value: "0123abcd"},
		debug.BuildSetting{Key: "vcs.time", Value: "2026-01-02T03:04:05Z"},
		debug.BuildSetting{Key: "vcs.modified", Value: "true"},
		debug.BuildSetting{Key: "-tags", Value: "noconsole,netgo"},
		debug.BuildSetting{Key: "CGO_ENABLED", Value: "0"},
	))
	want := build{
		Version: "v1.2.3", Commit: "0123abcd", Date: "2026-01-02T03:04:05Z", Modified: true,
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Tags: []string{"noconsole", "netgo"},
	}
	if diff := cmp.Diff(want, b); diff != "" {
		t.Error(diff)
	}
	var text strings.Builder
	if err := b.write(&text); err != nil {
		t.Fatal(err)
	}
	wantText := "hippocampus v1.2.3\n" +
		"  commit    0123abcd (modified)\n" +
		"  date      2026-01-02T03:04:05Z\n" +
		"  go        " + want.Go + "\n" +
		"  platform  " + want.Platform + "\n" +
		"  tags      noconsole,netgo\n"
	if text.String() != wantText {
		t.Errorf("text:\n%swant:\n%s", &text, wantText)
	}
}

func TestVersion_OmitsWhatIsUnknown(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	b := buildOf("", recorded(debug.BuildSetting{Key: "CGO_ENABLED", Value: "1"}))
	if err := b.write(&text); err != nil {
		t.Fatal(err)
	}
	if got := text.String(); !strings.HasPrefix(got, "hippocampus (devel)\n  go ") || !strings.Contains(got, "cgo") ||
		strings.Contains(got, "commit") || strings.Contains(got, "tags") {
		t.Errorf("text:\n%s", got)
	}
}

func TestVersion_PrintsJSON(t *testing.T) {
	t.Parallel()
	code, out, errOut := run(t, nil, "version", "--json")
	var b build
	if err := json.Unmarshal([]byte(out), &b); code != 0 || err != nil {
		t.Fatalf("exit %d: %s%s: %v", code, out, errOut, err)
	}
	if b.Go != runtime.Version() || b.Platform != runtime.GOOS+"/"+runtime.GOARCH || b.Tags == nil {
		t.Errorf("printed %s", out)
	}
}
