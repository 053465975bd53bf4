package e2e

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The scripts of the first hour play against the built server, and docs/first-hour.md shows what they print. The
// Chinese page shows the parts of the Chinese user.
func TestFirstHour_PrintsWhatThePageShows(t *testing.T) {
	t.Parallel()
	s := start(t)
	english := shownTexts(t, "../../docs/first-hour.md")
	chinese := shownTexts(t, "../../docs/zh/first-hour.md")
	if len(english) != 2 || len(chinese) != 2 {
		t.Fatalf("docs/first-hour.md shows %d texts, docs/zh/first-hour.md %d", len(english), len(chinese))
	}
	for i := range english {
		if !strings.Contains(english[i], chinese[i]) {
			t.Errorf("docs/zh/first-hour.md shows other answers than docs/first-hour.md:\n%s", chinese[i])
		}
	}
	for i, name := range []string{"hour", "restart"} {
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
		got, want := masked(string(out)), masked(english[i])
		for n := range max(len(got), len(want)) {
			if n >= len(got) || n >= len(want) || !sameButRounding(got[n], want[n]) {
				t.Fatalf("%s: line %d is not what docs/first-hour.md shows. The whole output is:\n%s", name, n+1, out)
			}
		}
		s.stop()
		s.run()
	}
}

// shownTexts returns the texts in fences of a page.
func shownTexts(t *testing.T, path string) (texts []string) {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(page), "\n```text\n")[1:] {
		text, _, _ := strings.Cut(part, "\n```")
		texts = append(texts, text)
	}
	return texts
}

var changing = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d{2}-\d{2}`)

// masked returns the lines of a text without ids, dates and spaces at the end.
func masked(text string) (lines []string) {
	for line := range strings.Lines(strings.TrimSpace(changing.ReplaceAllString(text, "*"))) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return lines
}

var decimals = regexp.MustCompile(`\d\.\d\d\b`)

// sameButRounding compares lines whose numbers may differ by a hundredth, as processors round differently.
func sameButRounding(a, b string) bool {
	if decimals.ReplaceAllString(a, "#") != decimals.ReplaceAllString(b, "#") {
		return false
	}
	others := decimals.FindAllString(b, -1)
	for i, text := range decimals.FindAllString(a, -1) {
		x, _ := strconv.ParseFloat(text, 64)
		y, _ := strconv.ParseFloat(others[i], 64)
		if math.Abs(x-y) > 0.0101 {
			return false
		}
	}
	return true
}
