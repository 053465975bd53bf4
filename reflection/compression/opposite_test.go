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

// A summary of messages, and a condensed context, say the opposite of nothing that was said.
func TestParse_RefusesTheOpposite(t *testing.T) {
	t.Parallel()
	at := time.Date(2031, 5, 7, 20, 0, 0, 0, time.UTC)
	said := func(sources []string) (messages []memory.Memory, lines []Line, numbers []int) {
		for i, source := range sources {
			by, words, _ := strings.Cut(source, ": ")
			messages = append(messages, memory.Memory{
				ID: source, Content: words, Type: memory.TypeMessage, Speaker: by, CreatedAt: at, ConversationID: "c",
			})
			lines, numbers = append(lines, Line{at, words}), append(numbers, i+1)
		}
		return messages, lines, numbers
	}
	refusal := func(answer any, parse func(*llm.Answer) error) string {
		encoded, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		if err := parse(&llm.Answer{Text: string(encoded)}); err != nil {
			return err.Error()
		}
		return ""
	}
	t.Run("compression", func(t *testing.T) {
		t.Parallel()
		claimtest.CheckOpposites(t, func(sources []string, claim string) string {
			messages, _, numbers := said(sources)
			answer := map[string]any{"summaries": []any{map[string]any{"summary": claim, "sources": numbers}}}
			return refusal(answer, func(a *llm.Answer) error {
				_, err := parse(a, messages)
				return err
			})
		})
	})
	t.Run("context", func(t *testing.T) {
		t.Parallel()
		claimtest.CheckOpposites(t, func(sources []string, claim string) string {
			_, lines, _ := said(sources)
			return refusal(map[string]any{"text": claim}, func(a *llm.Answer) error {
				_, err := parseText(a, lines, Room{Size: 1000})
				return err
			})
		})
	})
}
