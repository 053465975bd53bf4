package evolution

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// answering is a chat that keeps the prompt of a call and answers with a text; empty: with an error.
type answering struct {
	llm.Prompt
	text string
}

func (*answering) Model() string { return "answering" }

func (a *answering) Answer(_ context.Context, p llm.Prompt) (string, error) {
	a.Prompt = p
	if a.text == "" {
		return "", errors.New("there is no answer")
	}
	return a.text, nil
}

var (
	bread = []memory.Workflow{
		{Text: "Let it rest for 2 hours, then bake", Successes: 2, MemoryID: "a"},
		{Text: "Bake at once", Failures: 3, Notes: []memory.OutcomeNote{{Note: "The \"dough\" had not risen"}}},
	}
	noodles = []memory.Workflow{{Text: "先放盐，再煮面", Successes: 2}, {Text: "煮好再放盐", Failures: 3}}
)

func TestPrompts_AreGolden(t *testing.T) {
	t.Parallel()
	for language, workflows := range map[string][]memory.Workflow{"en": bread, "zh": noodles} {
		chat := &answering{}
		if _, err := Try(t.Context(), chat, workflows); err == nil {
			t.Error("an answer")
		}
		llmtest.Golden(t, "testdata/evolve."+language+".golden", chat.Prompt)
	}
}

// Each step cites evidence that has its names and numbers, and is not what fails.
func TestParse_LeavesOutWhatTheEvidenceDoesNotHave(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ step, sources, want string }{
		{"Let the dough rest for 2 hours before you bake.", "1, 3", "a"},
		{"Do not bake at once.", "2", ""},
		{"Let it rest for 3 hours.", "1", "refused"},
		{"Let it rest for two hours.", "2", "refused"}, // the evidence that it cites has no number
		{"Let it rest as Julia does.", "1", "refused"},
		{"Bake at once!", "2", "refused"},
		{"先让面团发酵。", "1", "refused"},
		{"Let it rest.", "", "refused"},
		{"Let it rest.", "4", "refused"},
		{"Let it rest.", "0", "refused"},
		{"Let it rest.", `"1"`, "a"},
		{" ", "1", "refused"},
		{strings.Repeat("rest ", 101), "1", "refused"},
	} {
		chat := &answering{text: `{"steps":[{"text":"` + test.step + `","sources":[` + test.sources + `]}]}`}
		steps, err := Try(t.Context(), chat, bread)
		have := "refused"
		if err == nil {
			have = strings.Join(steps[0].Memories, " ")
		} else if !memory.IsKind(err, memory.KindBadAnswer) {
			t.Errorf("%q: %v", test.step, err)
		}
		if have != test.want {
			t.Errorf("%q of %s: %q (%v), want %q", test.step, test.sources, have, err, test.want)
		}
	}
}

func TestByRule_MarksWhatFails(t *testing.T) {
	t.Parallel()
	for want, workflows := range map[string][]memory.Workflow{
		"x: Let it rest for 2 hours, then bake\nThis has failed more often than it has worked: Bake at once": bread,
		"x: 先放盐，再煮面\n这样做失败多于成功：煮好再放盐":                                                                        noodles,
	} {
		k := skill{name: "x", better: &workflows[0], worst: &workflows[1]}
		var lines []string
		for _, g := range k.byRule() {
			lines = append(lines, g.Line)
		}
		if have := strings.Join(lines, "\n"); have != want {
			t.Errorf("%q", have)
		}
	}
}
