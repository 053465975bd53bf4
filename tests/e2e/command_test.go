package e2e

import (
	"errors"
	"os/exec"
	"strings"
)

// command runs a command of the binary on the server's stores, and returns
// what it prints to standard output.
func (s *server) command(args ...string) string {
	s.t.Helper()
	out, err := s.tryCommand(args...)
	if err != nil {
		s.t.Fatalf("hippocampus %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (s *server) tryCommand(args ...string) (string, error) {
	cmd := exec.Command(binary, args...)
	cmd.Dir = s.dir
	cmd.Env = s.cmd.Env
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return string(exit.Stderr), err
	}
	return string(out), err
}

// createKey creates a key and returns its secret.
func (s *server) createKey(args ...string) string {
	s.t.Helper()
	return strings.TrimSpace(s.command(append([]string{"key", "create", "--name", "e2e"}, args...)...))
}

// writeKey returns the id of the newest key with the write role.
func (s *server) writeKey() string {
	s.t.Helper()
	id := ""
	for line := range strings.Lines(s.command("key", "list")) {
		if words := strings.Fields(line); len(words) > 3 && words[3] == "write" {
			id = words[0]
		}
	}
	return id
}
