package compression

import (
	"context"
	"embed"
	"strings"
	"unicode/utf8"

	"hippocampus/internal/llm"
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
	Messages      bool // the memories are messages of one conversation
}

// promptMemory is an old memory in a prompt.
type promptMemory struct {
	Number int    `json:"number"`
	Said   string `json:"said"`         // day
	By     string `json:"by,omitempty"` // who said it; empty: it is not a message
	Memory string `json:"memory"`
}

// ask has the model summarise a group, in the group's language.
func (s *Service) ask(ctx context.Context, group []memory.Memory) ([]derivation.Conclusion, error) {
	lines, texts := make([]promptMemory, len(group)), make([]string, len(group))
	for i, m := range group {
		lines[i] = promptMemory{Number: i + 1, Said: m.CreatedAt.Format(prompt.Day), By: m.Speaker, Memory: m.Content}
		texts[i] = m.Content
	}
	quoted, err := prompt.Quote(lines...)
	if err != nil {
		return nil, err
	}
	answer, err := compressPrompt.Ask(ctx, s.Chat, strings.Join(texts, "\n"), compressData{
		Quoted: quoted, MaxSummaries: maxSummaries, Messages: conversationOf(group) != "",
	})
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

// maxSummaries of one group.
const maxSummaries = 3

// parse reads an answer about a group that was numbered from 1. It refuses the
// whole answer if any part of it is wrong (KindBadAnswer).
func parse(answer string, group []memory.Memory) ([]derivation.Conclusion, error) {
	var reply struct {
		Summaries *[]struct { // a nil field was missing or null
			Summary *string `json:"summary"`
			Sources *[]int  `json:"sources"`
		} `json:"summaries"`
	}
	if err := llm.Decode(answer, &reply); err != nil {
		return nil, err
	}
	if reply.Summaries == nil || len(*reply.Summaries) == 0 {
		return nil, llm.BadAnswer("the answer has no summaries")
	}
	proposals := make([]derivation.Proposal, len(*reply.Summaries))
	for i, p := range *reply.Summaries {
		proposals[i] = derivation.Proposal{Text: p.Summary, Sources: p.Sources}
	}
	rules := derivation.Rules{
		Field: "summaries", Template: compressPrompt, Max: maxSummaries, MaxRunes: memory.MaxContentRunes,
	}
	summaries, err := rules.Check(proposals, group)
	if err != nil {
		return nil, err
	}
	return summaries, checkWhole(summaries, group)
}

// checkWhole refuses summaries that leave a memory of the group out, or are
// longer than the group.
func checkWhole(summaries []derivation.Conclusion, group []memory.Memory) error {
	cited := map[string]bool{}
	var length, groupLength int
	for _, s := range summaries {
		length += runes(s.Content)
		for _, m := range s.Sources {
			cited[m.ID] = true
		}
	}
	for i, m := range group {
		groupLength += runes(m.Content)
		if !cited[m.ID] {
			return llm.BadAnswer("no summary cites the memory %d of %d", i+1, len(group))
		}
	}
	if length > groupLength {
		return llm.BadAnswer("the summaries have %d characters, the memories only %d", length, groupLength)
	}
	return nil
}
