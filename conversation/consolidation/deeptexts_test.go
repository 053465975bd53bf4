package consolidation

import (
	_ "embed"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"hippocampus/conversation/session"
	"hippocampus/internal/grounding/claimtest"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

var (
	//go:embed testdata/deep.txt
	deepTexts string
	//go:embed testdata/deep_held.txt
	heldDeepTexts string
	//go:embed testdata/deep_third.txt
	thirdDeepTexts string
	//go:embed testdata/replay_held.txt
	replayTexts string
)

// Patterns, projects, skills and insights that add something to the conversation are refused.
func TestParseDeep_TellsWhatIsInventedFromWhatIsHonest(t *testing.T) {
	t.Parallel()
	at := time.Date(2031, 5, 7, 20, 0, 0, 0, time.UTC)
	const most = 11 // percent of the invented texts that are taken; some of them add only a new word in lower case
	claimtest.CheckUpTo(t, most, []claimtest.File{
		{Name: "deep.txt", Text: deepTexts}, {Name: "deep_held.txt", Text: heldDeepTexts},
		{Name: "deep_third.txt", Text: thirdDeepTexts},
	}, func(sources []string, claim string) string {
		var events []session.Event
		for _, said := range sources {
			by, words, _ := strings.Cut(said, ": ")
			events = append(events, session.Event{Name: by, Role: by, Content: words, At: at, Kind: memory.Chat})
		}
		list, words, _ := strings.Cut(claim, ": ")
		answer, err := json.Marshal(map[string]any{list: []any{map[string]any{"text": words}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseDeep(&llm.Answer{Text: string(answer)}, talkOf(events)); err != nil {
			return err.Error()
		}
		return ""
	})
}

// The summary of an ended conversation says what was said, and adds nothing. Lines are "day name: words".
func TestParseReplay_TellsWhatIsInventedFromWhatIsHonest(t *testing.T) {
	t.Parallel()
	why := func(sources []string, claim string) string {
		var events []session.Event
		before := ""
		for _, source := range sources {
			by, words, _ := strings.Cut(source, ": ")
			day, role, dated := strings.Cut(by, " ")
			if !dated {
				day, role = "2031-05-07", by
			}
			at, err := time.Parse(time.DateOnly, day)
			switch {
			case err != nil:
				t.Fatal(err)
			case role == "summary":
				before = words
			default:
				at = at.Add(20 * time.Hour)
				events = append(events, session.Event{Name: role, Role: role, Content: words, At: at, Kind: memory.Chat})
			}
		}
		answer, err := json.Marshal(map[string]string{"summary": claim})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseReplay(&llm.Answer{Text: string(answer)}, before, events); err != nil {
			return err.Error()
		}
		return ""
	}
	claimtest.Check(t, claimtest.Summaries(), why)
	const most = 26 // percent of the invented texts that are taken: verbs and Chinese words that are new
	claimtest.CheckUpTo(t, most, []claimtest.File{{Name: "replay_held.txt", Text: replayTexts}}, why)
}
