package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"hippocampus/server/config"
)

// unit is the settings of the unit by section and name. A repeated setting has its last value.
func unit(t *testing.T) map[string]map[string]string {
	t.Helper()
	sections, section := map[string]map[string]string{}, ""
	for line := range strings.Lines(text(t, "systemd/hippocampus.service")) {
		line = strings.TrimSpace(line)
		name, value, isSetting := strings.Cut(line, "=")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			section = strings.Trim(line, "[]")
			sections[section] = map[string]string{}
		case isSetting:
			sections[section][name] = value
		default:
			t.Errorf("the unit has the line %q", line)
		}
	}
	return sections
}

func TestUnit_RunsTheServerWithItsDataAlone(t *testing.T) {
	t.Parallel()
	service := unit(t)["Service"]
	for name, want := range map[string]string{
		"ExecStart": "/usr/bin/hippocampus serve --config /etc/hippocampus/hippocampus.yaml",
		"User":      "hippocampus", "StateDirectory": "hippocampus", "StateDirectoryMode": "0700", "UMask": "0077",
		"ProtectSystem": "strict", "ProtectHome": "yes", "NoNewPrivileges": "yes", "CapabilityBoundingSet": "",
		"MemoryDenyWriteExecute": "yes", "Restart": "on-failure",
	} {
		if got, ok := service[name]; !ok || got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	stop, err := time.ParseDuration(service["TimeoutStopSec"])
	if shutdown := config.Default().API.ShutdownTimeout; err != nil || stop <= shutdown {
		t.Errorf("the service is killed after %s, and its shutdown may take %s: %v", stop, shutdown, err)
	}
}

// Where systemd is installed, it finds no error in the unit and rates its exposure as OK.
func TestUnit_SatisfiesSystemd(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		return
	}
	rated := command(t, "systemd-analyze", "security", "--offline=true", "systemd/hippocampus.service")
	level := regexp.MustCompile(`exposure level for hippocampus\.service: ([0-9.]+)`).FindStringSubmatch(rated)
	if level == nil {
		t.Fatalf("no exposure level in\n%s", rated)
	}
	if exposure, err := strconv.ParseFloat(level[1], 64); err != nil || exposure > 1.5 {
		t.Errorf("the exposure is %s, want at most 1.5 of 10", level[1])
	}

	root := t.TempDir()
	units := filepath.Join(root, "etc/systemd/system")
	for _, folder := range []string{units, filepath.Join(root, "usr/bin")} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	files := map[string]string{filepath.Join(units, "hippocampus.service"): text(t, "systemd/hippocampus.service")}
	for _, target := range []string{"sysinit", "basic", "shutdown", "network-online"} {
		files[filepath.Join(units, target+".target")] = "[Unit]\n"
	}
	for path, content := range files {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "usr/bin/hippocampus"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if found := command(t, "systemd-analyze", "verify", "--root="+root, "hippocampus.service"); found != "" {
		t.Errorf("systemd-analyze verify: %s", found)
	}
}
