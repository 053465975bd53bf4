package deploy

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hippocampus/server/config"
)

// command runs a program and returns its output.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// debianPackage builds a package with a stand-in for the binary, and returns its path.
func debianPackage(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	binary, licences := filepath.Join(folder, "binary"), filepath.Join(folder, "licences")
	for _, path := range []string{binary, licences} {
		if err := os.WriteFile(path, []byte("stand-in"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	command(t, "debian/build", binary, "v1.2.3-rc.1", "amd64", licences, folder)
	return filepath.Join(folder, "hippocampus_1.2.3~rc.1_amd64.deb")
}

func TestDebianPackage_HasItsFilesWithTheirModes(t *testing.T) {
	listed := command(t, "dpkg-deb", "--contents", debianPackage(t))
	for _, want := range []string{
		`-rwxr-xr-x root/root .* \./usr/bin/hippocampus`,
		`-rw-r--r-- root/root .* \./usr/lib/systemd/system/hippocampus\.service`,
		`-rw-r--r-- root/root .* \./usr/lib/sysusers\.d/hippocampus\.conf`,
		`drwxr-x--- root/root .* \./etc/hippocampus/`,
		`-rw-r----- root/root .* \./etc/hippocampus/hippocampus\.yaml`,
		`-rw-r--r-- root/root .* \./usr/share/doc/hippocampus/copyright`,
		`-rw-r--r-- root/root .* \./usr/share/doc/hippocampus/examples/hippocampus\.yaml`,
	} {
		if !regexp.MustCompile(`(?m)^` + want + `$`).MatchString(listed) {
			t.Errorf("the package lacks %s:\n%s", want, listed)
		}
	}
	if strings.Contains(listed, "./var/lib") {
		t.Error("the package contains the folder of data, which its removal would delete")
	}
}

func TestDebianPackage_DescribesItself(t *testing.T) {
	path := debianPackage(t)
	for field, want := range map[string]string{
		"Package": "hippocampus", "Version": "1.2.3~rc.1", "Architecture": "amd64", "Depends": "systemd | systemd-sysusers",
	} {
		if got := strings.TrimSpace(command(t, "dpkg-deb", "--field", path, field)); got != want {
			t.Errorf("%s is %q, want %q", field, got, want)
		}
	}
	// A release is newer than its candidates.
	command(t, "dpkg", "--compare-versions", "1.2.3~rc.1", "lt", "1.2.3")
}

func TestDebianPackage_IsReproducible(t *testing.T) {
	packages := [2][]byte{}
	for i := range packages {
		data, err := os.ReadFile(debianPackage(t))
		if err != nil {
			t.Fatal(err)
		}
		packages[i] = data
	}
	if !bytes.Equal(packages[0], packages[1]) {
		t.Error("two packages of the same files differ")
	}
}

// The package is installed into an empty root, removed, installed again and purged.
func TestDebianPackage_InstallsAndKeepsDataWhenPurged(t *testing.T) {
	path, root := debianPackage(t), t.TempDir()
	for _, folder := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates", "etc"} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dpkg := func(args ...string) {
		t.Helper()
		args = append([]string{"dpkg", "--root=" + root, "--log=" + root + "/log", "--force-depends",
			"--force-script-chrootless"}, args...)
		if os.Geteuid() != 0 {
			args = append([]string{"fakeroot"}, args...)
		}
		command(t, args[0], args[1:]...)
	}
	dpkg("--install", path)
	users := text(t, filepath.Join(root, "etc/passwd"))
	if !regexp.MustCompile(`(?m)^hippocampus:x:\d+:\d+:.*:/var/lib/hippocampus:/usr/sbin/nologin$`).MatchString(users) {
		t.Errorf("the service's user is missing:\n%s", users)
	}
	enabled := filepath.Join(root, "etc/systemd/system/multi-user.target.wants/hippocampus.service")
	if to, err := os.Readlink(enabled); err != nil || to != "/usr/lib/systemd/system/hippocampus.service" {
		t.Errorf("the service is not enabled: %q, %v", to, err)
	}
	settings := filepath.Join(root, "etc/hippocampus/hippocampus.yaml")
	info, err := os.Stat(settings)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Fatalf("the settings: %v, %v", info, err)
	}
	c, err := config.Load(config.Sources{File: settings})
	if err != nil || c.Data != "/var/lib/hippocampus" || c.Listen != config.Default().Listen {
		t.Errorf("the settings are %v\n%s", err, c)
	}

	data := filepath.Join(root, "var/lib/hippocampus")
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	dpkg("--remove", "hippocampus")
	if _, err := os.Stat(settings); err != nil {
		t.Errorf("the removal deleted the settings: %v", err)
	}
	dpkg("--install", path)
	dpkg("--purge", "hippocampus")
	if _, err := os.Stat(settings); !os.IsNotExist(err) {
		t.Errorf("the purge keeps the settings: %v", err)
	}
	if _, err := os.Stat(data); err != nil {
		t.Errorf("the purge deleted the memories: %v", err)
	}
}
