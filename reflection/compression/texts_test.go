package compression

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

//go:embed testdata/condensed_held.txt
var condensedTexts string

// mostOfMemories is the share of texts that may add something to memories and be taken, in percent.
const mostOfMemories = 14

// memoryTexts are files of texts about memories, each after its day.
func memoryTexts() []claimtest.File {
	return []claimtest.File{{Name: "condensed_held.txt", Text: condensedTexts}}
}

// Summaries and contexts say what was said in conversations and memories, and add nothing.
func TestParse_TellsWhatIsInventedFromWhatIsHonest(t *testing.T) {
	t.Parallel()
	t.Run("compression", func(t *testing.T) {
		t.Parallel()
		claimtest.Check(t, claimtest.Summaries(), refusalOfSummary(t))
		claimtest.CheckUpTo(t, mostOfMemories, memoryTexts(), refusalOfCompression(t))
	})
	t.Run("context", func(t *testing.T) {
		t.Parallel()
		claimtest.Check(t, claimtest.Summaries(), refusalOfContext(t))
		claimtest.CheckUpTo(t, mostOfMemories, memoryTexts(), refusalOfContext(t))
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
			_, err := parse(a, messages, 3)
			return err
		})
	}
}

// refusalOfContext returns why a condensed context of lines is refused; "" if it is taken.
func refusalOfContext(t *testing.T) func(sources []string, claim string) string {
	return func(sources []string, claim string) string {
		var lines []Line
		for _, source := range sources {
			at, words := dated(t, source)
			lines = append(lines, Line{at, words})
		}
		return refusal(t, map[string]any{"text": claim}, func(a *llm.Answer) error {
			_, err := parseText(a, lines, Room{Size: 1000})
			return err
		})
	}
}

// refusalOfCompression returns why a summary of memories, "" if it is taken, is refused.
func refusalOfCompression(t *testing.T) func(sources []string, claim string) string {
	return func(sources []string, claim string) string {
		var memories []memory.Memory
		var numbers []int
		for i, source := range sources {
			at, words := dated(t, source)
			memories = append(memories, memory.Memory{ID: source, Content: words, Type: memory.TypeFact, CreatedAt: at})
			numbers = append(numbers, i+1)
		}
		answer := map[string]any{"summaries": []any{map[string]any{"summary": claim, "sources": numbers}}}
		return refusal(t, answer, func(a *llm.Answer) error {
			_, err := parse(a, memories, 3)
			return err
		})
	}
}

// dated returns the day and the words of a memory, or the words of a line of a conversation.
func dated(t *testing.T, source string) (at time.Time, words string) {
	if _, words, ok := strings.Cut(source, ": "); ok {
		return saidAt, words
	}
	day, words, _ := strings.Cut(source, " ")
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		t.Fatal(err)
	}
	return at.Add(9 * time.Hour), words
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
