package scorer

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/scorer/statement"
)

// NewLLM returns a scorer that asks a chat model, once a turn.
//
//	turn, messages before it -> prompt in the user's language -> answer -> facts, each checked
//
// An invalid fact is left out of an answer alone. An answer is refused if it has facts but no valid one; the model is
// then asked once more with the reason.
func NewLLM(chat llm.Chat) Scorer { return &model{chat: chat} }

type model struct{ chat llm.Chat }

func (m *model) Name() string { return m.chat.Model() }

func (m *model) Score(ctx context.Context, turn memory.Turn, before []memory.Message) ([]Fact, error) {
	prompt, err := render(turn, before)
	if err != nil {
		return nil, err
	}
	var last *llm.Answer
	facts, err := llm.Ask(ctx, m.chat, prompt, func(answer *llm.Answer) ([]Fact, error) {
		last = answer
		said := words(append(slices.Clone(before), turn.Messages...))
		if SpeaksToModel(turn.Policy) {
			return parseWithPolicy(answer, *turn.Policy, said, turn.Local(turn.At))
		}
		return parse(answer, said, turn.Local(turn.At))
	})
	if memory.IsKind(err, memory.KindBadAnswer) {
		refused := &BadAnswer{Err: err}
		if last != nil {
			refused.Answer, refused.Corrected = last.Text, true
		}
		return nil, refused
	}
	return facts, err
}

// proposal is a fact as the model writes it. A nil field was missing or null.
type proposal struct {
	Fact       *string  `json:"fact"`
	Importance *float64 `json:"importance"`
	Domain     string   `json:"domain"`
	Type       string   `json:"type"`
	Expires    *string  `json:"expires"`
	Category   string   `json:"category"`
}

// parse reads an answer about what was said, at an instant in the user's zone. It refuses an answer that has no list of
// facts, too many facts, or only invalid facts.
func parse(answer *llm.Answer, said string, at time.Time) ([]Fact, error) {
	var reply struct {
		Facts llm.Items[proposal] `json:"facts"`
	}
	if err := answer.Decode(&reply); err != nil {
		return nil, err
	}
	return factsOf(answer, reply.Facts, said, at)
}

// factsOf reads the facts of an answer.
func factsOf(answer *llm.Answer, proposed llm.Items[proposal], said string, at time.Time) ([]Fact, error) {
	if proposed == nil {
		return nil, llm.BadAnswer("the answer has no facts field")
	}
	if n := len(proposed); n > MaxFacts {
		return nil, llm.BadAnswer("the answer has %d facts: at most %d are allowed", n, MaxFacts)
	}
	facts := make([]Fact, len(proposed))
	valid := 0
	for i, item := range proposed {
		fact := item.Value.fact(answer, at)
		fact.Invalid = item.Value.check(said)
		if item.Err != nil {
			fact.Invalid = item.Err.Error()
		}
		if fact.Invalid == "" {
			valid++
		} else {
			answer.Salvage("facts[%d] %s", i, fact.Invalid)
			fact = Fact{Content: item.Raw, Domain: memory.GeneralChat, Type: memory.TypeFact, Invalid: fact.Invalid}
		}
		facts[i] = fact
	}
	if len(facts) > 0 && valid == 0 {
		return nil, llm.BadAnswer("facts[0] %s", facts[0].Invalid)
	}
	return facts, nil
}

// check returns what is wrong with a proposal about what was said, or "".
func (p proposal) check(said string) string {
	switch {
	case p.Fact == nil:
		return "has no fact"
	case p.Importance != nil && (math.IsNaN(*p.Importance) || *p.Importance < 0 || *p.Importance > 1):
		return "has an importance outside 0 to 1"
	}
	content := strings.TrimSpace(*p.Fact)
	if why := memory.CheckContent(content, memory.MaxContentRunes); why != "" {
		return "has a fact that " + why
	}
	if template.Echoes(content, said) {
		return "repeats the prompt's own words"
	}
	return ""
}

// fact returns a proposal that check accepts as a fact. It replaces an unknown domain by the domain that the classifier
// of sentences finds, an unknown type by TypeFact, and a missing importance by the importance of the rules. It drops an
// end that the fact does not name.
func (p proposal) fact(answer *llm.Answer, at time.Time) Fact {
	if p.Fact == nil {
		return Fact{}
	}
	fact := Fact{
		Content: strings.TrimSpace(*p.Fact),
		Domain:  memory.Domain(identifier(p.Domain)), Type: memory.Type(identifier(p.Type)), Category: p.Category,
	}
	if !slices.Contains(memory.Domains, fact.Domain) {
		fact.Domain = statement.Domain(fact.Content)
		answer.Salvage("the domain %.40q is unknown: %s instead", p.Domain, fact.Domain)
	}
	if p.Importance != nil {
		fact.Importance = *p.Importance
	} else {
		fact.Importance = Importance(fact.Content, fact.Domain)
		answer.Salvage("a fact has no importance: %g instead", fact.Importance)
	}
	if fact.Type == "" {
		fact.Type = memory.TypeFact
	} else if !slices.Contains(memory.FactTypes, fact.Type) {
		fact.Type = memory.TypeFact
		answer.Salvage("the type %.40q is unknown: %s instead", p.Type, fact.Type)
	}
	if p.Expires != nil && *p.Expires != "" {
		var ok bool
		if fact.ExpiresAt, ok = endOf(fact.Content, *p.Expires, at); !ok {
			answer.Salvage("a fact ends on %.40q, which it does not name or which is over: it has no end", *p.Expires)
		}
	}
	return fact
}

// identifier writes a name as an identifier: "User Preferences" and "user-preferences" are user_preferences.
func identifier(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return r == ' ' || r == '-' || r == '_' || r == '\t' || r == '\n'
	}), "_")
}

// words joins the contents of messages.
func words(messages []memory.Message) string {
	var contents []string
	for _, m := range messages {
		contents = append(contents, m.Content)
	}
	return strings.Join(contents, "\n")
}
