package reflection

import (
	_ "embed"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/grounding/claimtest"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

var (
	//go:embed testdata/insights_held.txt
	heldInsights string
	//go:embed testdata/insights_third.txt
	thirdInsights string
	//go:embed testdata/insights_fresh.txt
	freshInsights string
)

// An insight that adds something to its facts is refused: see also TestParse_RefusesInventions.
func TestParse_TellsWhatIsInventedFromWhatIsHonest(t *testing.T) {
	t.Parallel()
	files := []claimtest.File{
		{Name: "insights_held.txt", Text: heldInsights}, {Name: "insights_third.txt", Text: thirdInsights},
		{Name: "insights_fresh.txt", Text: freshInsights},
	}
	const most = 8 // percent of the invented texts that are taken
	claimtest.CheckUpTo(t, most, files, func(sources []string, claim string) string {
		var facts []memory.Memory
		var numbers []int
		for i, dated := range sources {
			day, text, _ := strings.Cut(dated, " ")
			at, err := time.Parse(time.DateOnly, day)
			if err != nil {
				t.Fatalf("%s: %v", dated, err)
			}
			facts = append(facts, memory.Memory{Content: text, Type: memory.TypeFact, CreatedAt: at.Add(9 * time.Hour)})
			numbers = append(numbers, i+1)
		}
		answer, err := json.Marshal(map[string]any{"insights": []any{
			map[string]any{"insight": claim, "sources": numbers, "domain": memory.Lifestyle},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parse(&llm.Answer{Text: string(answer)}, facts); err != nil {
			return err.Error()
		}
		return ""
	})
}
