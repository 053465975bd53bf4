package reflection

import (
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

func TestPrompt_IsGolden(t *testing.T) {
	t.Parallel()
	for language, texts := range map[string][]string{
		"en": {"Rosalind moved to Bergen yesterday.", "Her flight is next Friday.", "Likes \"black\" tea."},
		"zh": {"苏眠昨天搬到了卑尔根。", "她的航班是下周五。", "喜欢“红茶”。"},
	} {
		b := newFixture(t, defaults)
		var facts []memory.Memory
		for i, text := range texts {
			facts = append(facts, memory.Memory{
				Content: text, Domain: memory.Lifestyle, Importance: 0.8, CreatedAt: time.Date(2031, 5, 5+i, 8, 0, 0, 0, time.UTC),
			})
		}
		if _, err := b.askAbout(t.Context(), facts); err != nil {
			t.Fatal(err)
		}
		llmtest.Golden(t, "testdata/reflect."+language+".golden", b.chat.Prompts()[0])
	}
}
