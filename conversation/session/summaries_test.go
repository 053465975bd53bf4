package session

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/grounding/claimtest"
	"hippocampus/internal/llm"
)

// A summary that adds something to what was said is refused.
func TestParseSummary_TellsWhatIsInventedFromWhatIsHonest(t *testing.T) {
	t.Parallel()
	claimtest.Check(t, claimtest.Summaries(), refusalIn(t))
}

// A summary that says the opposite of what was said is refused.
func TestParseSummary_RefusesTheOpposite(t *testing.T) {
	t.Parallel()
	claimtest.CheckOpposites(t, refusalIn(t))
}

// refusalIn returns why a summary of lines is refused; "" if it is taken.
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
