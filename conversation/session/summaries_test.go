package session

import (
	_ "embed"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/grounding/claimtest"
	"hippocampus/internal/llm"
)

var (
	//go:embed testdata/summaries.txt
	summaryTexts string
	//go:embed testdata/summaries_held.txt
	heldSummaryTexts string
)

// A summary says what was said, and adds nothing. Replays, compressions and condensed contexts have the same check.
func TestParseSummary_TellsWhatIsInventedFromWhatIsHonest(t *testing.T) {
	t.Parallel()
	claimtest.Check(t, []claimtest.File{
		{Name: "summaries.txt", Text: summaryTexts}, {Name: "summaries_held.txt", Text: heldSummaryTexts},
	}, refusalIn(t))
}

// A summary says the opposite of nothing that was said.
func TestParseSummary_RefusesTheOpposite(t *testing.T) {
	t.Parallel()
	claimtest.CheckOpposites(t, refusalIn(t))
}

// A sentence begins with no name that was not said, whether the name could be the user's or not.
func TestParseSummary_RefusesStrangersAtTheBeginning(t *testing.T) {
	t.Parallel()
	said := []string{
		"user: Marta's sister Ines called, she moves to Leeds with the twins.", "assistant: Did Ines find a flat?",
		"user: Yes, near Roundhay Park. Painting starts next week.",
	}
	refusal := refusalIn(t)
	for summary, want := range map[string]string{
		"Ines moves to Leeds with the twins.":                           "",
		"Marta's sister moves to Leeds. Ines found a flat there.":       "",
		"Roundhay Park is near the flat in Leeds.":                      "",
		"Painting of the flat starts next week.":                        "",
		"Clara moves to Leeds with the twins.":                          "Clara",
		"Ines moves to Leeds with the twins. Olga found a flat there.":  "Olga",
		"Peter's sister moves to Leeds.":                                "Peter",
		"Ines moves to Leeds. Viktor will paint the flat next week.":    "Viktor",
		"Someone moves to Leeds. Everyone is happy. There is a flat.":   "",
		"Afterwards Ines called. Yesterday is when the flat was found.": "",
	} {
		why := refusal(said, summary)
		if (why != "") != (want != "") || !strings.Contains(why, want) {
			t.Errorf("%s: %q, want %q", summary, why, want)
		}
	}
}

// refusalIn returns why a summary of lines, "" if it is taken, is refused.
func refusalIn(t *testing.T) func(sources []string, claim string) string {
	at := time.Date(2031, 5, 7, 20, 0, 0, 0, time.UTC)
	return func(sources []string, claim string) string {
		var events []Event
		for _, said := range sources {
			by, words, _ := strings.Cut(said, ": ")
			events = append(events, Event{Name: by, Role: by, Content: words, At: at})
		}
		answer, err := json.Marshal(map[string]string{"summary": claim})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseSummary(&llm.Answer{Text: string(answer)}, compactPrompt, "", events, 1000); err != nil {
			return err.Error()
		}
		return ""
	}
}
