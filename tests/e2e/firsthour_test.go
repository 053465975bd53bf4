package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The scripts of the first hour play against the built server, and docs/first-hour.md shows every
// turn and question of them.
func TestFirstHour_IsShownAsItComes(t *testing.T) {
	t.Parallel()
	s := start(t)
	page, err := os.ReadFile("../../docs/first-hour.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"hour", "restart"} {
		script, err := os.ReadFile("../../examples/firsthour/testdata/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		player := exec.CommandContext(t.Context(), "go", "run", "../../examples/firsthour", "--url", s.url)
		player.Stdin = bytes.NewReader(script)
		player.Env = append(os.Environ(), "HIPPOCAMPUS_KEY="+s.key)
		out, err := player.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		asked := 0
		for line := range strings.Lines(string(out)) {
			what, _, _ := strings.Cut(line, " | route")
			if strings.HasPrefix(what, "TURN ") || strings.HasPrefix(what, "ASK ") {
				asked++
				if !strings.Contains(string(page), strings.TrimSpace(what)) {
					t.Errorf("docs/first-hour.md does not show %q", strings.TrimSpace(what))
				}
			}
		}
		if asked < 5 {
			t.Errorf("%s: only %d turns and questions: %s", name, asked, out)
		}
	}
}
