package judge

import (
	"context"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// scripted answers every prompt alike.
type scripted struct {
	answer string
	asked  *[]llm.Prompt
}

func (s scripted) Model() string { return "scripted" }

func (s scripted) Answer(_ context.Context, p llm.Prompt) (string, error) {
	if s.asked != nil {
		*s.asked = append(*s.asked, p)
	}
	return s.answer, nil
}

func saidOn(content string, day int) memory.Memory {
	return memory.Memory{Content: content, CreatedAt: time.Date(2031, 5, day, 8, 0, 0, 0, time.UTC)}
}

// A change of the prompt's wording shows in testdata.
func TestLLM_PromptIsThatOfTheGoldenFile(t *testing.T) {
	t.Parallel()
	for language, facts := range map[string][]string{
		"en": {"Bruno died in March.", "The user has a beagle called Bruno.", "The user likes the beach."},
		"zh": {"布鲁诺三月去世了。", "用户养了一只叫布鲁诺的比格犬。", "用户喜欢海边。"},
	} {
		var asked []llm.Prompt
		_, _ = NewLLM(scripted{asked: &asked}).Judge(t.Context(), saidOn(facts[0], 9),
			[]memory.Memory{saidOn(facts[1], 3), saidOn(facts[2], 4)})
		llmtest.Golden(t, "testdata/judge."+language+".golden", asked[0])
		for _, date := range []string{"2031-05-09 08:00", "2031-05-03 08:00", "2031-05-04 08:00"} {
			if !strings.Contains(asked[0].User, date) {
				t.Errorf("%s: %s is missing", language, date)
			}
		}
	}
}

// A fact that was said before a memory can be replaced by it.
func TestLLM_PromptSaysWhatReplaceMeansForALateFact(t *testing.T) {
	t.Parallel()
	for content, rule := range map[string]string{
		"Lives in Porto.": "the memory replaces the new fact", "住在波尔图。": "这条记忆替换新事实",
	} {
		for day, late := range map[int]bool{3: true, 9: false} {
			var asked []llm.Prompt
			_, _ = NewLLM(scripted{asked: &asked}).Judge(t.Context(), saidOn(content, day),
				[]memory.Memory{saidOn("Lives in Braga.", 4)})
			if got := strings.Contains(asked[0].System, rule); got != late {
				t.Errorf("%s of day %d: %t", content, day, got)
			}
		}
	}
}

// An answer without a usable decision is refused, and the model is asked once more, with the reason.
func TestLLM_AsksOnceMoreAfterARefusedAnswer(t *testing.T) {
	t.Parallel()
	var asked []llm.Prompt
	_, err := NewLLM(scripted{answer: `{"decisions":[]}`, asked: &asked}).Judge(t.Context(), draft, near)
	if !memory.IsKind(err, memory.KindBadAnswer) || len(asked) != 2 || asked[1].Refused == nil ||
		!strings.Contains(asked[1].Refused.Reason, "no decisions") {
		t.Errorf("%v after %+v", err, asked)
	}
}
