package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// clockedBinary builds the server with a clock that a test sets.
func clockedBinary(t *testing.T) string {
	t.Helper()
	overlay := map[string]map[string]string{
		"Replace": {absolute(t, "../../cmd/hippocampus/clock.go"): absolute(t, "testdata/clock/clock.go")},
	}
	data, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "hippocampus")
	build := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program,
		"hippocampus/cmd/hippocampus")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the server: %v\n%s", err, out)
	}
	return program
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// set sets the servers' clock, which stands still until the next call.
func (l *life) set(now time.Time) {
	l.t.Helper()
	if now.Before(l.now) {
		l.t.Fatalf("the script goes back from %s to %s", lifetime(l.now.Format(time.RFC3339)),
			lifetime(now.Format(time.RFC3339)))
	}
	l.now = now
	if err := os.Chtimes(l.clock, now, now); err != nil {
		l.t.Fatal(err)
	}
}
