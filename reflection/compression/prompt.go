package compression

import (
	"embed"
	"strings"
	"unicode/utf8"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
)

const (
	maxPromptRunes  = 24_000 // of memories in one prompt
	maxAnswerTokens = 4096
)

//go:embed prompts/*.txt
var promptFiles embed.FS

var (
	condensePrompt = prompt.Parse(promptFiles, "condense")
	compressPrompt = prompt.Parse(promptFiles, "compress")
)

// condenseData fills the prompt of a Condenser.
type condenseData struct {
	prompt.Quoted // contents, one a line
	Room          int
	Tokens        bool
}

// compressData fills the prompt of a Service.
type compressData struct {
	prompt.Quoted // memories, one a line
	MaxSummaries  int
}

// line is an old memory as the model sees it.
type line struct {
	Number int           `json:"number"`
	Said   string        `json:"said"` // day
	Domain memory.Domain `json:"domain"`
	Memory string        `json:"memory"`
}

// render makes the prompt of a group, in its language.
func render(group []memory.Memory) (llm.Prompt, error) {
	lines, texts := make([]line, len(group)), make([]string, len(group))
	for i, m := range group {
		lines[i] = line{i + 1, m.CreatedAt.Format("2006-01-02"), m.Domain, m.Content}
		texts[i] = m.Content
	}
	quoted, err := prompt.Quote(lines...)
	if err != nil {
		return llm.Prompt{}, err
	}
	return compressPrompt.Render(strings.Join(texts, "\n"), compressData{quoted, maxSummaries}, maxAnswerTokens)
}

// runes counts the characters of some texts together.
func runes(texts ...string) (n int) {
	for _, s := range texts {
		n += utf8.RuneCountInString(s)
	}
	return n
}

func refuse(format string, args ...any) error {
	return memory.Errorf(memory.KindBadAnswer, format, args...)
}
