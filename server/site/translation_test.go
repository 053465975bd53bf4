package site

import (
	"regexp"
	"slices"
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

var targets = regexp.MustCompile(`\]\(([^)]*)\)`)

// outline returns the levels of a page's headings in their order, and what its links and pictures lead to, sorted. Both
// are as of a page in docs, in English.
func outline(t *testing.T, name string) (headings, links []string) {
	t.Helper()
	source, err := docs.Files.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(source)) {
		if level, _, found := strings.Cut(line, " "); found && strings.Trim(level, "#") == "" && level != "" {
			headings = append(headings, level)
		}
	}
	for _, m := range targets.FindAllStringSubmatch(string(source), -1) {
		links = append(links, strings.Replace(strings.TrimPrefix(m[1], "../"), ".zh.svg", ".svg", 1))
	}
	slices.Sort(links)
	return headings, links
}

func TestConcepts_InChineseHaveTheOutlineOfTheEnglishPage(t *testing.T) {
	t.Parallel()
	headings, links := outline(t, "concepts.md")
	if len(headings) < 4 || len(links) < 10 {
		t.Fatalf("only %d headings and %d links are found", len(headings), len(links))
	}
	inChinese, linksInChinese := outline(t, "zh/concepts.md")
	if !slices.Equal(headings, inChinese) {
		t.Errorf("headings %q, want %q", inChinese, headings)
	}
	if !slices.Equal(links, linksInChinese) {
		t.Errorf("links\n%s\nwant\n%s", strings.Join(linksInChinese, "\n"), strings.Join(links, "\n"))
	}
}
