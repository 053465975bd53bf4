package judge

import (
	"context"
	"embed"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
)

const (
	maxAnswerTokens = 2048
	said            = "2006-01-02 15:04"
)

//go:embed prompts
var promptFiles embed.FS

var template = prompt.Parse(promptFiles, "judge")

// NewLLM returns a judge that asks a chat model, once for all near memories, and once more if no
// decision of its answer is usable.
func NewLLM(chat llm.Chat) Judge { return &model{chat} }

type model struct{ chat llm.Chat }

// statement is a line of the prompt.
type statement struct {
	Memory int    `json:"memory,omitempty"` // its number, from 1; 0: the new fact
	Said   string `json:"said"`
	Text   string `json:"text"`
}

func (m *model) Judge(ctx context.Context, draft memory.Memory, near []memory.Memory) ([]Verdict, error) {
	p, err := render(draft, near)
	if err != nil {
		return nil, err
	}
	return llm.Ask(ctx, m.chat, p, func(answer *llm.Answer) ([]Verdict, error) { return parse(answer, draft, near) })
}

// render makes the prompt, in the language of the new fact.
func render(draft memory.Memory, near []memory.Memory) (llm.Prompt, error) {
	lines := []statement{{Said: draft.Said().Format(said), Text: draft.Content}}
	isLate := false
	for i, m := range near {
		isLate = isLate || draft.Said().Before(m.Said())
		lines = append(lines, statement{Memory: i + 1, Said: m.Said().Format(said), Text: m.Content})
	}
	quoted, err := prompt.Quote(lines...)
	if err != nil {
		return llm.Prompt{}, err
	}
	data := struct {
		prompt.Quoted
		Late bool // the new fact was said before one of the memories
	}{quoted, isLate}
	return template.Render(draft.Content, data, maxAnswerTokens)
}
