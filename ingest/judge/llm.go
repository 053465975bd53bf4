package judge

import (
	"context"
	"embed"
	"strings"

	"hippocampus/internal/grounding"
	"hippocampus/internal/llm"
	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

const (
	maxAnswerTokens = 2048
	day             = "2006-01-02 15:04"

	// ownCoverage is the share of a merged text's words that must occur in the two texts
	// that it merges, so that it adds no statement of its own.
	ownCoverage = 0.6
)

//go:embed prompts/*.txt
var promptFiles embed.FS

var template = prompt.Parse(promptFiles, "judge")

// NewLLM returns a judge that asks a chat model, once for all near memories. An answer with
// any error is refused as a whole.
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
	answer, err := m.chat.Answer(ctx, p)
	if err != nil {
		return nil, err
	}
	return parse(answer, draft, near)
}

// render makes the prompt, in the language of the new fact.
func render(draft memory.Memory, near []memory.Memory) (llm.Prompt, error) {
	lines := []statement{{Said: draft.CreatedAt.Format(day), Text: draft.Content}}
	for i, m := range near {
		lines = append(lines, statement{Memory: i + 1, Said: m.CreatedAt.Format(day), Text: m.Content})
	}
	quoted, err := prompt.Quote(lines...)
	if err != nil {
		return llm.Prompt{}, err
	}
	return template.Render(draft.Content, quoted, maxAnswerTokens)
}

// decision is a verdict as the model writes it; nil: left out, or null.
type decision struct {
	Memory   *int                 `json:"memory"`
	Decision *Decision            `json:"decision"`
	Relation *memory.RelationKind `json:"relation"`
	Merged   *string              `json:"merged"`
}

// parse reads an answer, which must decide on each memory exactly once.
func parse(answer string, draft memory.Memory, near []memory.Memory) ([]Verdict, error) {
	var reply struct {
		Decisions *[]decision `json:"decisions"`
	}
	if err := llm.Decode(answer, &reply); err != nil {
		return nil, err
	}
	if reply.Decisions == nil {
		return nil, refuse("the answer has no decisions field")
	}
	verdicts, merges := make([]Verdict, len(near)), 0
	for i, d := range *reply.Decisions {
		switch {
		case d.Memory == nil || *d.Memory < 1 || *d.Memory > len(near):
			return nil, refuse("decisions[%d] names no memory from 1 to %d", i, len(near))
		case verdicts[*d.Memory-1].Decision != "":
			return nil, refuse("decisions[%d] decides on memory %d again", i, *d.Memory)
		}
		v, err := d.check(i, draft, near[*d.Memory-1])
		if err != nil {
			return nil, err
		}
		if v.Decision == Merge {
			merges++
		}
		verdicts[*d.Memory-1] = v
	}
	if len(*reply.Decisions) != len(near) {
		return nil, refuse("the answer decides on %d of %d memories", len(*reply.Decisions), len(near))
	}
	if merges > 1 {
		return nil, refuse("the answer merges the new fact into %d memories: it can be one with one alone", merges)
	}
	return verdicts, nil
}

// check turns a decision into a verdict on m.
func (d decision) check(i int, draft, m memory.Memory) (Verdict, error) {
	if d.Decision == nil {
		return Verdict{}, refuse("decisions[%d] decides nothing", i)
	}
	v := Verdict{Decision: *d.Decision}
	switch v.Decision {
	case KeepBoth, Merge:
	case Replace:
		v.Relation = memory.Contradicts
	default:
		return Verdict{}, refuse("decisions[%d] has the unknown decision %.40q", i, v.Decision)
	}
	if d.Relation != nil {
		if v.Decision != Replace || *d.Relation != memory.Contradicts && *d.Relation != memory.Refines {
			return Verdict{}, refuse("decisions[%d] has the relation %.40q, which does not go with %s",
				i, *d.Relation, v.Decision)
		}
		v.Relation = *d.Relation
	}
	if d.Merged != nil {
		v.Merged = strings.TrimSpace(*d.Merged)
		if v.Decision != Merge {
			return Verdict{}, refuse("decisions[%d] has a merged text, which does not go with %s", i, v.Decision)
		}
		if why := memory.CheckContent(v.Merged, memory.MaxContentRunes); why != "" {
			return Verdict{}, refuse("decisions[%d] has a merged text that %s", i, why)
		}
		if !drawnFrom(v.Merged, draft.Content, m.Content) {
			return Verdict{}, refuse("decisions[%d] has a merged text that says what neither of the two says", i)
		}
		if invented := grounding.Invented(v.Merged, grounding.Source{Text: draft.Content, At: draft.CreatedAt},
			grounding.Source{Text: m.Content, At: m.CreatedAt}); invented != nil {
			return Verdict{}, refuse("decisions[%d] has a merged text with %q, which neither of the two has", i, invented)
		}
	}
	return v, nil
}

// drawnFrom reports whether a text consists of the words of others.
func drawnFrom(merged string, sources ...string) bool {
	said := map[string]bool{}
	for _, source := range sources {
		for _, lexeme := range text.Lexemes(source) {
			said[lexeme] = true
		}
	}
	lexemes, known := text.Lexemes(merged), 0
	for _, lexeme := range lexemes {
		if said[lexeme] {
			known++
		}
	}
	return len(lexemes) > 0 && float64(known) >= ownCoverage*float64(len(lexemes))
}

func refuse(format string, args ...any) error {
	return memory.Errorf(memory.KindBadAnswer, format, args...)
}
