package ingest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"hippocampus/internal/memory"
)

// The tables of docs/flows/write.md have every way in which a part of a turn is not kept.
func TestUnkept_IsWhatTheDocumentationLists(t *testing.T) {
	t.Parallel()
	parts := "| `reason` | what is not kept | why |\n|---|---|---|\n"
	for _, u := range UnkeptParts {
		parts += fmt.Sprintf("| `%s` | %s | %s |\n", u.Reason, u.What, u.Why)
	}
	facts := "| `verdict` | `reason` begins with | what becomes no memory of its own | why |\n|---|---|---|---|\n"
	for _, u := range UnkeptFacts {
		because := "anything else"
		if u.Because != "" {
			because = "`" + strings.TrimSpace(u.Because) + "`"
		}
		facts += fmt.Sprintf("| `%s` | %s | %s | %s |\n", u.Verdict, because, u.What, u.Why)
	}
	page, err := os.ReadFile("../docs/flows/write.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{parts, facts} {
		if !strings.Contains(string(page), "\n"+want+"\n") {
			t.Errorf("docs/flows/write.md has no such table:\n%s", want)
		}
	}
}

func TestUnkept_HasEveryReasonAndVerdict(t *testing.T) {
	t.Parallel()
	var reasons []memory.OmissionReason
	for _, u := range UnkeptParts {
		reasons = append(reasons, u.Reason)
	}
	if !slices.Equal(reasons, memory.OmissionReasons) {
		t.Errorf("listed are %q, there are %q", reasons, memory.OmissionReasons)
	}
	for _, v := range memory.Verdicts {
		listed := slices.ContainsFunc(UnkeptFacts, func(u UnkeptFact) bool { return u.Verdict == v })
		if listed != (v != memory.Kept) {
			t.Errorf("%s is listed: %t", v, listed)
		}
	}
	for i, u := range UnkeptFacts { // an earlier row with the same beginning would hide a later one
		if found, ok := WhyUnkept(memory.Candidate{Verdict: u.Verdict, Reason: u.Because + "x"}); !ok || found != u {
			t.Errorf("row %d is hidden by %+v", i, found)
		}
	}
}
