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
)

// Patterns, projects, skills and insights that add something to the conversation are refused.
func TestParseDeep_TellsWhatIsInventedFromWhatIsHonest(t *testing.T) {
	t.Parallel()
	at := time.Date(2031, 5, 7, 20, 0, 0, 0, time.UTC)
	claimtest.Check(t, []claimtest.File{
		{Name: "deep.txt", Text: deepTexts}, {Name: "deep_held.txt", Text: heldDeepTexts},
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
