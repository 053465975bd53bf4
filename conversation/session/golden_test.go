package session

import (
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

func TestPrompt_IsGolden(t *testing.T) {
	t.Parallel()
	at := time.Date(2031, 5, 5, 19, 30, 0, 0, time.UTC)
	for language, texts := range map[string][]string{
		"en": {"Rosalind moves to Bergen.", "The flight is \"tomorrow\".", "seat booking failed", "Done."},
		"zh": {"苏眠要搬到卑尔根。", "航班是“明天”。", "选座失败", "好了。"},
	} {
		b := newFixture(t)
		s := b.withModel(small)
		b.chat.OnPrompt(answering(texts[0]))
		events := []Event{
			{Role: "user", Name: "Rosalind", Content: texts[1], Kind: memory.Chat, At: at},
			{Role: "tool", Content: texts[2], Kind: memory.Failure, At: at},
			{Role: "assistant", Content: texts[3], Kind: memory.Chat, At: at.AddDate(0, 0, 1)},
		}
		if _, err := s.ask(t.Context(), texts[0], events); err != nil {
			t.Fatal(err)
		}
		llmtest.Golden(t, "testdata/compact."+language+".golden", b.chat.Prompts()[0])
	}
}
