package judge

import (
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

func TestPrompt_IsGolden(t *testing.T) {
	t.Parallel()
	for language, texts := range map[string][]string{
		"en": {"Rosalind moved to Oslo.", "Rosalind moved to Bergen in April 2031.", "Rosalind plays the \"oboe\"."},
		"zh": {"苏眠搬到了奥斯陆。", "苏眠2031年4月搬到了卑尔根。", "苏眠吹“双簧管”。"},
	} {
		var all []memory.Memory
		for i, text := range texts {
			all = append(all, memory.Memory{Content: text, CreatedAt: time.Date(2031, 6, 5-i, 8, 30, 0, 0, time.UTC)})
		}
		p, err := render(all[0], all[1:])
		if err != nil {
			t.Fatal(err)
		}
		llmtest.Golden(t, "testdata/judge."+language+".golden", p)
	}
}
