package compression

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/grounding/claimtest"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// A summary of messages, or a condensed context, that says the opposite of what was said is refused.
func TestParse_RefusesTheOpposite(t *testing.T) {
	t.Parallel()
	t.Run("compression", func(t *testing.T) {
		t.Parallel()
		claimtest.CheckOpposites(t, refusalOfSummary(t))
	})
	t.Run("context", func(t *testing.T) {
		t.Parallel()
		claimtest.CheckOpposites(t, refusalOfContext(t))
	})
}

// Summaries and contexts say what was said, and add nothing.
func TestParse_TellsWhatIsInventedFromWhatIsHonest(t *testing.T) {
	t.Parallel()
	t.Run("compression", func(t *testing.T) {
		t.Parallel()
		claimtest.Check(t, claimtest.Summaries(), refusalOfSummary(t))
	})
	t.Run("context", func(t *testing.T) {
		t.Parallel()
		claimtest.Check(t, claimtest.Summaries(), refusalOfContext(t))
	})
}

var saidAt = time.Date(2031, 5, 7, 20, 0, 0, 0, time.UTC)

// refusalOfSummary returns why a summary of messages is refused; "" if it is taken.
func refusalOfSummary(t *testing.T) func(sources []string, claim string) string {
	return func(sources []string, claim string) string {
		var messages []memory.Memory
		var numbers []int
		for i, source := range sources {
			by, words, _ := strings.Cut(source, ": ")
			messages = append(messages, memory.Memory{
				ID: source, Content: words, Type: memory.TypeMessage, Speaker: by, CreatedAt: saidAt, ConversationID: "c",
			})
			numbers = append(numbers, i+1)
		}
		answer := map[string]any{"summaries": []any{map[string]any{"summary": claim, "sources": numbers}}}
		return refusal(t, answer, func(a *llm.Answer) error {
			_, err := parse(a, messages)
			return err
		})
	}
}

// refusalOfContext returns why a condensed context of lines is refused; "" if it is taken.
func refusalOfContext(t *testing.T) func(sources []string, claim string) string {
	return func(sources []string, claim string) string {
		var lines []Line
		for _, source := range sources {
			_, words, _ := strings.Cut(source, ": ")
			lines = append(lines, Line{saidAt, words})
		}
		return refusal(t, map[string]any{"text": claim}, func(a *llm.Answer) error {
			_, err := parseText(a, lines, Room{Size: 1000})
			return err
		})
	}
}

func refusal(t *testing.T, answer any, parse func(*llm.Answer) error) string {
	encoded, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	if err := parse(&llm.Answer{Text: string(encoded)}); err != nil {
		return err.Error()
	}
	return ""
}
