package reflection

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// Each line of the two files has an insight and the facts that it cites, each with its day.
var (
	//go:embed testdata/invented.tsv
	inventedInsights string
	//go:embed testdata/honest.tsv
	honestInsights string
)

// citation is an answer with one insight from facts, and with a list to retire all of them.
type citation struct {
	insight, answer string
	facts           []memory.Memory
}

func citations(t *testing.T, file string) (list []citation) {
	t.Helper()
	for line := range strings.Lines(file) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		c := citation{insight: fields[0]}
		var numbers []int
		for i, dated := range fields[1:] {
			day, text, _ := strings.Cut(dated, " ")
			at, err := time.Parse(time.DateOnly, day)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			numbers = append(numbers, i+1)
			c.facts = append(c.facts, memory.Memory{
				ID: fmt.Sprint(i + 1), Content: text, Type: memory.TypeFact, Domain: memory.Lifestyle,
				CreatedAt: at.Add(9 * time.Hour),
			})
		}
		answer, err := json.Marshal(map[string]any{
			"insights": []any{map[string]any{"insight": c.insight, "sources": numbers}}, "retire": numbers,
		})
		if err != nil {
			t.Fatal(err)
		}
		c.answer = string(answer)
		list = append(list, c)
	}
	if len(list) != 60 {
		t.Fatalf("%d insights, want 60", len(list))
	}
	return list
}

// An insight with a name, number, date or place that its sources lack is refused, and retires nothing.
func TestParse_RefusesInventions(t *testing.T) {
	t.Parallel()
	for _, c := range citations(t, inventedInsights) {
		found, err := parse(&llm.Answer{Text: c.answer}, c.facts)
		if !memory.IsKind(err, memory.KindBadAnswer) || len(found.insights) != 0 || !strings.Contains(err.Error(), " adds ") {
			t.Errorf("%s: %+v, %v", c.insight, found.insights, err)
		}
	}
}

// Paraphrases, other word forms, numerals as words and resolved dates are no inventions.
func TestParse_KeepsHonestInsights(t *testing.T) {
	t.Parallel()
	for _, c := range citations(t, honestInsights) {
		found, err := parse(&llm.Answer{Text: c.answer}, c.facts)
		if err != nil || len(found.insights) != 1 || len(found.insights[0].retire) != len(c.facts) ||
			len(found.leftOut) != 0 {
			t.Errorf("%s: %v, %v", c.insight, err, found.leftOut)
		}
	}
}
