package compression

import (
	"context"
	"embed"
	"fmt"
	"strings"
	"unicode/utf8"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
	"hippocampus/reflection/derivation"
)

const maxPromptRunes = 24_000 // of memories in one prompt

//go:embed prompts
var promptFiles embed.FS

var (
	condensePrompt = prompt.Parse(promptFiles, "condense")
	compressPrompt = prompt.Parse(promptFiles, "compress")
)

// condenseData fills the prompt of a Condenser.
type condenseData struct {
	prompt.Quoted      // memories, one per line
	MaxWords, MaxRunes int
}

// promptLine is a memory in the prompt of a Condenser.
type promptLine struct {
	Said   string `json:"said"` // day
	Memory string `json:"memory"`
}

func promptLines(memories []Line) []promptLine {
	lines := make([]promptLine, len(memories))
	for i, m := range memories {
		lines[i] = promptLine{Said: m.Said.Format(prompt.Day), Memory: m.Text}
	}
	return lines
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
func (s *Service) ask(ctx context.Context, g group) (condensed, error) {
	zone, err := s.Zone.Of(ctx, g.memories[0].Owner)
	if err != nil {
		return condensed{}, err
	}
	memories := memory.In(zone, g.memories...)
	lines, texts := make([]promptMemory, len(memories)), make([]string, len(memories))
	for i, m := range memories {
		lines[i] = promptMemory{Number: i + 1, Said: m.CreatedAt.Format(prompt.Day), By: m.Speaker, Memory: m.Content}
		texts[i] = m.Content
	}
	quoted, err := prompt.Quote(lines...)
	if err != nil {
		return condensed{}, err
	}
	data := compressData{Quoted: quoted, MaxSummaries: g.most, Messages: g.core == nil}
	return prompt.Ask(ctx, compressPrompt, s.Chat, strings.Join(texts, "\n"), data,
		func(answer *llm.Answer) (condensed, error) { return parse(answer, memories, g.most) })
}

// runes counts the characters of all texts.
func runes(texts ...string) (n int) {
	for _, s := range texts {
		n += utf8.RuneCountInString(s)
	}
	return n
}

// condensed is a checked answer.
type condensed struct {
	summaries []derivation.Conclusion
	leftOut   []string // the refused parts of the answer, with the reasons, and the memories that no summary stands for
}

// parse reads an answer about memories that were numbered from 1, of at most so many summaries. A bad summary is left
// out, and the others are read.
// KindBadAnswer: no summary is good.
func parse(answer *llm.Answer, memories []memory.Memory, most int) (c condensed, err error) {
	var reply struct {
		Summaries llm.Items[struct {
			Summary string             `json:"summary"`
			Sources derivation.Numbers `json:"sources"`
		}] `json:"summaries"`
	}
	if err := answer.Decode(&reply); err != nil {
		return c, err
	}
	if len(reply.Summaries) == 0 {
		return c, llm.BadAnswer("the answer has no summaries")
	}
	proposals := make([]derivation.Proposal, len(reply.Summaries))
	for i, p := range reply.Summaries {
		proposals[i] = derivation.Proposal{Text: p.Value.Summary, Sources: p.Value.Sources, Err: p.Err}
	}
	rules := derivation.Rules{
		Field: "summaries", Template: compressPrompt, Max: most, MaxRunes: memory.MaxContentRunes,
	}
	if c.summaries, c.leftOut, err = rules.Check(proposals, memories); err != nil {
		return c, err
	}
	if err := c.shorten(); err != nil {
		return c, err
	}
	if kept := len(memories) - len(c.cited()); kept > 0 {
		why := fmt.Sprintf("no summary stands for %d of %d memories, which stay", kept, len(memories))
		c.leftOut = append(c.leftOut, why)
	}
	for _, why := range c.leftOut {
		answer.Salvage("%s", why)
	}
	return c, nil
}

// cited returns the memories that the summaries stand for.
func (c *condensed) cited() map[string]memory.Memory {
	cited := map[string]memory.Memory{}
	for _, s := range c.summaries {
		for _, m := range s.Sources {
			cited[m.ID] = m
		}
	}
	return cited
}

// shorten leaves out summaries, the last first, until the others are no longer than the memories that they stand for.
// KindBadAnswer: every summary is left out.
func (c *condensed) shorten() error {
	for len(c.summaries) > 0 {
		var length, before int
		for _, s := range c.summaries {
			length += runes(s.Content)
		}
		for _, m := range c.cited() {
			before += runes(m.Content)
		}
		if length <= before {
			return nil
		}
		last := len(c.summaries) - 1
		why := fmt.Sprintf("the summaries have %d characters, the memories that they cite only %d", length, before)
		if last == 0 {
			return llm.BadAnswer("%s", why)
		}
		c.summaries, c.leftOut = c.summaries[:last], append(c.leftOut, why)
	}
	return nil
}
