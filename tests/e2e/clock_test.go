package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// firstDay is the instant at which the clock of the tests and of their servers begins to run. No result depends on it;
// HIPPOCAMPUS_TEST_DATE (RFC 3339) sets another instant.
const firstDay = "2026-03-04T10:00:00Z"

// ahead is how far the clock is ahead of the machine's; negative: behind.
var ahead time.Duration

// now returns the time of the servers' clock.
func now() time.Time { return time.Now().Add(ahead) }

// setClock sets the clock of this process and of all programs that it starts with its environment.
func setClock() error {
	begins := firstDay
	if date := os.Getenv("HIPPOCAMPUS_TEST_DATE"); date != "" {
		begins = date
	}
	at, err := time.Parse(time.RFC3339, begins)
	if err != nil {
		return fmt.Errorf("HIPPOCAMPUS_TEST_DATE: %w", err)
	}
	ahead = time.Until(at).Round(time.Second)
	return os.Setenv("E2E_AHEAD", ahead.String())
}

// clockEnv returns the variables that a program without this process's environment needs for the clock. If this process
// has no TZ, the zone is one that is far from UTC.
func clockEnv() []string {
	return []string{"E2E_AHEAD=" + ahead.String(), "TZ=" + cmp.Or(os.Getenv("TZ"), "Asia/Shanghai")}
}

// build builds the server as users do, static and without cgo, except for its clock.
func build(dir string) (program string, err error) {
	replaced, err := filepath.Abs("../../cmd/hippocampus/clock.go")
	if err != nil {
		return "", err
	}
	clock, err := filepath.Abs("testdata/clock/clock.go")
	if err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {replaced: clock}})
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return "", err
	}
	program = filepath.Join(dir, "hippocampus")
	build := exec.Command("go", "build", "-overlay", list, "-o", program, "hippocampus/cmd/hippocampus")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the server: %w\n%s", err, out)
	}
	return program, nil
}
