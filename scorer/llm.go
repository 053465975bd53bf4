package scorer

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// NewLLM returns a scorer that asks a chat model, once a turn.
//
//	turn -> prompt in the user's language -> answer -> checked facts
//
// An answer with any error is refused as a whole, as *BadAnswer.
func NewLLM(chat llm.Chat) Scorer { return &model{chat: chat} }

type model struct{ chat llm.Chat }

func (m *model) Name() string { return m.chat.Model() }

func (m *model) Score(ctx context.Context, turn memory.Turn) ([]Fact, error) {
	prompt, err := render(turn)
	if err != nil {
		return nil, err
	}
	answer, err := m.chat.Answer(ctx, prompt)
	if err == nil {
		var facts []Fact
		if facts, err = parse(answer, turn); err == nil {
			return facts, nil
		}
	}
	if memory.IsKind(err, memory.KindBadAnswer) {
		return nil, &BadAnswer{Answer: answer, Err: err}
	}
	return nil, err
}

// proposal is a fact as the model writes it; nil: left out, or null.
type proposal struct {
	Fact       *string        `json:"fact"`
	Importance *float64       `json:"importance"`
	Domain     *memory.Domain `json:"domain"`
	Type       *memory.Type   `json:"type"`
}

// parse reads an answer and checks every fact in it.
func parse(answer string, turn memory.Turn) ([]Fact, error) {
	var reply struct {
		Facts *[]proposal `json:"facts"`
	}
	if err := llm.Decode(answer, &reply); err != nil {
		return nil, err
	}
	if reply.Facts == nil {
		return nil, memory.Errorf(memory.KindBadAnswer, "the answer has no facts field")
	}
	if n := len(*reply.Facts); n > MaxFacts {
		return nil, memory.Errorf(memory.KindBadAnswer, "the answer has %d facts: at most %d are allowed", n, MaxFacts)
	}
	facts := make([]Fact, len(*reply.Facts))
	for i, p := range *reply.Facts {
		fact, why := p.check()
		if why == "" && isEcho(fact.Content, turn) {
			why = "repeats the prompt's own words"
		}
		if why != "" {
			return nil, memory.Errorf(memory.KindBadAnswer, "facts[%d] %s", i, why)
		}
		facts[i] = fact
	}
	return facts, nil
}

// check returns what is wrong with a proposal, or "".
func (p proposal) check() (Fact, string) {
	switch {
	case p.Fact == nil:
		return Fact{}, "has no fact"
	case p.Importance == nil:
		return Fact{}, "has no importance"
	case p.Domain == nil:
		return Fact{}, "has no domain"
	}
	fact := Fact{Content: strings.TrimSpace(*p.Fact), Importance: *p.Importance, Domain: *p.Domain, Type: memory.TypeFact}
	if p.Type != nil {
		fact.Type = *p.Type
	}
	if why := memory.CheckContent(fact.Content, memory.MaxContentRunes); why != "" {
		return Fact{}, "has a fact that " + why
	}
	switch {
	case math.IsNaN(fact.Importance) || fact.Importance < 0 || fact.Importance > 1:
		return Fact{}, "has an importance outside 0 to 1"
	case !slices.Contains(memory.Domains, fact.Domain):
		return Fact{}, fmt.Sprintf("has the unknown domain %.40q", fact.Domain)
	case !slices.Contains(memory.Types, fact.Type):
		return Fact{}, fmt.Sprintf("has the unknown type %.40q", fact.Type)
	}
	return fact, ""
}

// promptLexemes holds the instructions and examples of both prompts, with separators around
// each lexeme so that only whole lexemes match.
var promptLexemes = func() []string {
	var prompts []string
	for _, name := range []string{"prompts/score.en.txt", "prompts/score.zh.txt"} {
		file, err := promptFiles.ReadFile(name)
		if err != nil {
			panic(err) // the file is embedded
		}
		prompts = append(prompts, " "+text.Join(text.Lexemes(string(file)))+" ")
	}
	return prompts
}()

// isEcho reports whether a fact is copied from the prompt: it has four lexemes or more, the
// prompt contains them in a row, and the turn holds less than half of them.
func isEcho(fact string, turn memory.Turn) bool {
	lexemes := text.Lexemes(fact)
	row := " " + text.Join(lexemes) + " "
	inPrompt := slices.ContainsFunc(promptLexemes, func(prompt string) bool { return strings.Contains(prompt, row) })
	if len(lexemes) < 4 || !inPrompt {
		return false
	}
	said := map[string]bool{}
	messages, _ := fit(turn.Messages)
	for _, m := range messages {
		for _, lexeme := range text.Lexemes(m.Content) {
			said[lexeme] = true
		}
	}
	shared := 0
	for _, lexeme := range lexemes {
		if said[lexeme] {
			shared++
		}
	}
	return 2*shared < len(lexemes)
}
