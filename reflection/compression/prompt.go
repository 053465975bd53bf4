package compression

import (
	"context"
	"embed"
	"strings"
	"time"
	"unicode/utf8"

	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
	"hippocampus/reflection/derivation"
)

const maxPromptRunes = 24_000 // of memories in one prompt

//go:embed prompts/*.txt
var promptFiles embed.FS

var (
	condensePrompt = prompt.Parse(promptFiles, "condense")
	compressPrompt = prompt.Parse(promptFiles, "compress")
)

// condenseData fills the prompt of a Condenser.
type condenseData struct {
	prompt.Quoted // contents, one per line
	Room          int
	Tokens        bool
}

// compressData fills the prompt of a Service.
type compressData struct {
	prompt.Quoted // memories, one per line
	MaxSummaries  int
}

// promptMemory is an old memory in a prompt.
type promptMemory struct {
	Number int           `json:"number"`
	Said   string        `json:"said"` // day
	Domain memory.Domain `json:"domain"`
	Memory string        `json:"memory"`
}

// ask has the model summarise a group, in the group's language.
func (s *Service) ask(ctx context.Context, group []memory.Memory) ([]derivation.Conclusion, error) {
	lines, texts := make([]promptMemory, len(group)), make([]string, len(group))
	for i, m := range group {
		lines[i] = promptMemory{Number: i + 1, Said: m.CreatedAt.Format(time.DateOnly), Domain: m.Domain, Memory: m.Content}
		texts[i] = m.Content
	}
	quoted, err := prompt.Quote(lines...)
	if err != nil {
		return nil, err
	}
	answer, err := compressPrompt.Ask(ctx, s.Chat, strings.Join(texts, "\n"), compressData{quoted, maxSummaries})
	if err != nil {
		return nil, err
	}
	return parse(answer, group)
}

// runes counts the characters of all texts.
func runes(texts ...string) (n int) {
	for _, s := range texts {
		n += utf8.RuneCountInString(s)
	}
	return n
}
