package site

import (
	"strings"
	"testing"

	"hippocampus/docs"
)

// transcript returns the lines of the transcripts of a page without their indentation.
func transcript(t *testing.T, name string) (lines []string) {
	t.Helper()
	source, err := docs.Files.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range Blocks(source) {
		if b.Language == "text" {
			for line := range strings.Lines(b.Text) {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
	}
	return lines
}

// Each turn and question of the Chinese first hour is on the English page, with the same verdicts and answers. The
// English page shows what a server answered.
func TestFirstHour_InChineseIsThatOfTheEnglishPage(t *testing.T) {
	t.Parallel()
	english := "\n" + strings.Join(transcript(t, "first-hour.md"), "\n") + "\n"
	var parts []string // a turn or question with the lines below it
	for _, line := range transcript(t, "zh/first-hour.md") {
		if len(parts) == 0 || strings.HasPrefix(line, "TURN ") || strings.HasPrefix(line, "ASK ") {
			parts = append(parts, line)
		} else {
			parts[len(parts)-1] += "\n" + line
		}
	}
	if len(parts) < 20 {
		t.Fatalf("only %d turns and questions are found", len(parts))
	}
	for _, part := range parts {
		if !strings.Contains(english, "\n"+part+"\n") {
			t.Errorf("docs/first-hour.md has no\n%s", part)
		}
	}
}
