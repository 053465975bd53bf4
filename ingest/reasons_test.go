package ingest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hippocampus/internal/memory"
)

// The tables of docs/flows/write.md have every way in which a part of a turn is not kept.
func TestReasons_AreThoseThatTheDocumentationLists(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/flows/write.md")
	if err != nil {
		t.Fatal(err)
	}
	parts := firstCells(t, string(page), "| `reason` | what is not kept | why |", 1)
	facts := firstCells(t, string(page),
		"| `verdict` | `reason` begins with | what becomes no memory of its own | why |", 2)
	var reasons []string
	for _, reason := range memory.OmissionReasons {
		reasons = append(reasons, string(reason))
	}
	if diff := cmp.Diff(reasons, parts); diff != "" {
		t.Errorf("the reasons of left_out (-code +page):\n%s", diff)
	}
	// A reason belongs to the first row, in this order, whose beginning it has.
	verdicts := []string{
		"invalid|" + becausePolicy, "below_threshold|" + becausePolicy,
		"below_threshold|" + becauseVoice, "below_threshold|" + becauseSecret, "below_threshold|" + becauseImportance,
		"echo|" + becauseEcho, "duplicate|anything else", "merged|anything else", "invalid|" + becauseUnsaid,
		"invalid|" + becauseRefused, "invalid|" + becauseUnusable, "invalid|anything else",
	}
	for i, v := range verdicts {
		verdicts[i] = strings.TrimSpace(v)
	}
	if diff := cmp.Diff(verdicts, facts); diff != "" {
		t.Errorf("the verdicts (-code +page):\n%s", diff)
	}
	for _, verdict := range memory.Verdicts {
		isListed := slices.ContainsFunc(facts, func(f string) bool { return strings.HasPrefix(f, string(verdict)+"|") })
		if isListed == (verdict == memory.Kept) {
			t.Errorf("%s is listed: %t", verdict, isListed)
		}
	}
}

// firstCells returns the first n cells of each row of a table, separated by bars and without marks of code.
func firstCells(t *testing.T, page, heading string, n int) (rows []string) {
	t.Helper()
	_, table, found := strings.Cut(page, heading+"\n")
	if !found {
		t.Fatalf("the page has no table %q", heading)
	}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		switch {
		case !strings.HasPrefix(line, "|"):
			return rows
		case strings.HasPrefix(line, "|---"):
			continue
		}
		cells[0] = strings.TrimPrefix(cells[0], "| ")
		rows = append(rows, strings.ReplaceAll(strings.Join(cells[:n], "|"), "`", ""))
	}
	return rows
}
