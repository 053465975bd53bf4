package reflection

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// maxInsights of one answer.
const maxInsights = 10

// maxInsightRunes is how long an insight may be.
const maxInsightRunes = 1000

// insight is one that passed every check.
type insight struct {
	content string
	domain  memory.Domain
	sources []memory.Memory // at least one
	retires map[string]bool // ids of those that retire
}

// proposal is an insight as the model writes it; nil: left out, or null.
type proposal struct {
	Insight *string        `json:"insight"`
	Sources *[]int         `json:"sources"`
	Domain  *memory.Domain `json:"domain"`
}

// parse reads an answer about facts that were numbered from 1, and refuses it
// whole where anything in it is wrong (KindBadAnswer).
func parse(answer string, facts []memory.Memory) ([]insight, error) {
	var reply struct {
		Insights *[]proposal `json:"insights"`
		Retire   *[]int      `json:"retire"`
	}
	if err := llm.Decode(answer, &reply); err != nil {
		return nil, err
	}
	if reply.Insights == nil {
		return nil, refuse("the answer has no insights field")
	}
	if n := len(*reply.Insights); n > maxInsights {
		return nil, refuse("the answer has %d insights: at most %d are allowed", n, maxInsights)
	}
	insights := make([]insight, len(*reply.Insights))
	said := map[string]bool{}
	for i, p := range *reply.Insights {
		in, why := p.check(facts)
		if form := wording(in.content); why == "" && said[form] {
			why = "says what another one says"
		} else {
			said[form] = true
		}
		if why != "" {
			return nil, refuse("insights[%d] %s", i, why)
		}
		insights[i] = in
	}
	return insights, retire(insights, reply.Retire, facts)
}

// wording is a text without its case, spaces and punctuation. Lexemes would
// drop too much: "not" is one of their stop words.
func wording(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

func refuse(format string, args ...any) error {
	return memory.Errorf(memory.KindBadAnswer, format, args...)
}

// check says what is wrong with a proposal, "" for nothing.
func (p proposal) check(facts []memory.Memory) (in insight, why string) {
	switch {
	case p.Insight == nil:
		return in, "has no insight"
	case p.Sources == nil || len(*p.Sources) == 0:
		return in, "cites no source"
	}
	in.content = strings.TrimSpace(*p.Insight)
	if why := memory.CheckContent(in.content, maxInsightRunes); why != "" {
		return in, why
	}
	if isEcho(in.content) {
		return in, "repeats the prompt's own words"
	}
	if in.sources, why = cited(*p.Sources, facts); why != "" {
		return in, why
	}
	if in.domain = commonDomain(in.sources); p.Domain != nil {
		if in.domain = *p.Domain; !memory.Known(memory.Domains, in.domain) {
			return in, fmt.Sprintf("has the unknown domain %.40q", in.domain)
		}
	}
	return in, ""
}

// cited finds the facts of some numbers.
func cited(numbers []int, facts []memory.Memory) (found []memory.Memory, why string) {
	for i, n := range numbers {
		if n < 1 || n > len(facts) {
			return nil, fmt.Sprintf("cites the fact %d of %d", n, len(facts))
		}
		if slices.Contains(numbers[:i], n) {
			return nil, fmt.Sprintf("cites the fact %d twice", n)
		}
		found = append(found, facts[n-1])
	}
	return found, ""
}

// commonDomain is the most frequent one, the first of those that are.
func commonDomain(sources []memory.Memory) (best memory.Domain) {
	counts := map[memory.Domain]int{}
	for _, m := range sources {
		counts[m.Domain]++
	}
	for _, m := range sources {
		if counts[m.Domain] > counts[best] {
			best = m.Domain
		}
	}
	return best
}

// retire marks what the answer retires: what it names, else all that it cites.
func retire(insights []insight, named *[]int, facts []memory.Memory) error {
	var retiring []memory.Memory
	if named != nil {
		var why string
		if retiring, why = cited(*named, facts); why != "" {
			return refuse("retire %s", why)
		}
	}
	covered := map[string]bool{}
	for i := range insights {
		in := &insights[i]
		in.retires = map[string]bool{}
		for _, m := range in.sources {
			covered[m.ID] = true
			in.retires[m.ID] = named == nil || slices.ContainsFunc(retiring, func(r memory.Memory) bool { return r.ID == m.ID })
		}
	}
	for _, m := range retiring {
		if !covered[m.ID] {
			return refuse("the answer would retire a fact that no insight cites")
		}
	}
	return nil
}

// promptLexemes are the instructions and examples of both prompts, framed by
// separators so that whole lexemes are found in them.
var promptLexemes = func() (prompts []string) {
	for _, name := range []string{"prompts/reflect.en.txt", "prompts/reflect.zh.txt"} {
		file, err := promptFiles.ReadFile(name)
		if err != nil {
			panic(err) // the file is embedded
		}
		prompts = append(prompts, " "+text.Join(text.Lexemes(string(file)))+" ")
	}
	return prompts
}()

// isEcho reports whether an insight is copied from the prompt: its lexemes,
// four or more, stand there in a row.
func isEcho(content string) bool {
	lexemes := text.Lexemes(content)
	row := " " + text.Join(lexemes) + " "
	return len(lexemes) >= 4 && slices.ContainsFunc(promptLexemes, func(p string) bool { return strings.Contains(p, row) })
}
