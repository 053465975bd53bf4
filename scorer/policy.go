package scorer

import (
	"strings"
	"time"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// policyTemplate is what a prompt has in addition if the app has a policy. It is apart from the template, so that the
// prompts of other apps stay the same.
var policyTemplate = prompt.Parse(promptFiles, "policy")

// policyLine is a policy in a prompt. Terms and patterns are not in it: the server finds them.
type policyLine struct {
	Keep       sideLine       `json:"keep,omitzero"`
	Never      sideLine       `json:"never,omitzero"`
	Categories []categoryLine `json:"categories,omitempty"`
}

type sideLine struct {
	Instructions string          `json:"instructions,omitempty"`
	Types        []memory.Type   `json:"types,omitempty"`
	Domains      []memory.Domain `json:"domains,omitempty"`
}

type categoryLine struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

func lineOfPolicy(p memory.Policy) (l policyLine) {
	l.Keep = sideLine{p.Keep.Instructions, p.Keep.Types, p.Keep.Domains}
	l.Never = sideLine{p.Never.Instructions, p.Never.Types, p.Never.Domains}
	for _, c := range p.Categories {
		l.Categories = append(l.Categories, categoryLine{c.Name, c.Description})
	}
	return l
}

// IsZero reports whether a side says nothing to a model.
func (s sideLine) IsZero() bool { return s.Instructions == "" && len(s.Types)+len(s.Domains) == 0 }

// SpeaksToModel reports whether a policy says something to a model, more than terms and patterns.
func SpeaksToModel(p *memory.Policy) bool {
	if p == nil {
		return false
	}
	l := lineOfPolicy(*p)
	return !l.Keep.IsZero() || !l.Never.IsZero() || len(l.Categories) > 0
}

// withPolicy adds a policy to a prompt, as data, in the language of a sample.
func withPolicy(p llm.Prompt, policy memory.Policy, sample string) (llm.Prompt, error) {
	quoted, err := prompt.Quote(lineOfPolicy(policy))
	if err != nil {
		return llm.Prompt{}, err
	}
	added, err := policyTemplate.Render(sample, quoted, maxAnswerTokens)
	p.System += added.System
	p.User = added.User + p.User
	p.Schema = added.Schema
	return p, err
}

// parseWithPolicy is parse for an answer that also quotes what is never kept. It refuses an answer without these
// quotes, and one that quotes what was not said.
func parseWithPolicy(answer *llm.Answer, p memory.Policy, said string, at time.Time) ([]Fact, error) {
	var reply struct {
		Facts llm.Items[proposal] `json:"facts"`
		Never llm.Items[string]   `json:"never"`
	}
	if err := answer.Decode(&reply); err != nil {
		return nil, err
	}
	facts, err := factsOf(answer, reply.Facts, said, at)
	if err != nil || p.Never.Instructions == "" {
		return facts, err
	}
	if reply.Never == nil {
		return nil, llm.BadAnswer("the answer has no never field")
	}
	for i, item := range reply.Never {
		quote := strings.TrimSpace(item.Value)
		switch {
		case item.Err != nil:
			return nil, llm.BadAnswer("never[%d] %v", i, item.Err)
		case quote == "":
		case len(Quoted(said, quote)) == 0:
			return nil, llm.BadAnswer("never[%d] is no part of a message: copy it word for word", i)
		default:
			facts = append(facts, Fact{Content: quote, IsNever: true})
		}
	}
	for i, f := range facts {
		if !f.IsNever && f.Invalid == "" && policyTemplate.Echoes(f.Content, said) {
			facts[i].Invalid = "repeats the prompt's own words"
		}
	}
	return facts, nil
}

// Quoted returns the sentences of a message that a quote of a model covers: those that hold a part of it, apart from
// spaces and case. If the model has changed the words, they are the sentences that have most of the words of the quote.
func Quoted(message, quote string) (sentences []string) {
	all := text.Sentences(message)
	wanted := compact(quote)
	if wanted == "" {
		return nil
	}
	var plain strings.Builder
	ends := make([]int, len(all)) // of the sentences in plain
	for i, sentence := range all {
		plain.WriteString(compact(sentence))
		ends[i] = plain.Len()
	}
	rest, i := 0, 0 // what is searched from, and the first sentence that no quote was looked for in
	for i < len(all) {
		at := strings.Index(plain.String()[rest:], wanted)
		if at < 0 {
			break
		}
		begin, end := rest+at, rest+at+len(wanted)
		for i < len(all) && ends[i] <= begin {
			i++
		}
		for i < len(all) && (i == 0 || ends[i-1] < end) {
			sentences = append(sentences, all[i])
			i++
		}
		if i > 0 {
			end = max(end, ends[i-1])
		}
		rest = end
	}
	if sentences == nil {
		sentences = similar(all, quote)
	}
	return sentences
}

// similar returns the sentences that have two thirds of the words of a quote.
func similar(all []string, quote string) (sentences []string) {
	words := map[string]bool{}
	for _, lexeme := range text.Lexemes(quote) {
		words[lexeme] = true
	}
	for _, sentence := range all {
		shared := map[string]bool{}
		for _, lexeme := range text.Lexemes(sentence) {
			if words[lexeme] {
				shared[lexeme] = true
			}
		}
		if len(words) > 0 && 3*len(shared) >= 2*len(words) {
			sentences = append(sentences, sentence)
		}
	}
	return sentences
}

// compact returns a text in lower case and without white space.
func compact(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), "")) }
