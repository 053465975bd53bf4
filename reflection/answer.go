package reflection

import (
	"fmt"
	"slices"
	"strings"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
	"hippocampus/reflection/derivation"
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
		if form := prompt.Wording(in.content); why == "" && said[form] {
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
	if template.Echoes(in.content) {
		return in, "repeats the prompt's own words"
	}
	if in.sources, why = derivation.Cited(*p.Sources, facts); why != "" {
		return in, why
	}
	if in.domain = derivation.CommonDomain(in.sources); p.Domain != nil {
		if in.domain = *p.Domain; !slices.Contains(memory.Domains, in.domain) {
			return in, fmt.Sprintf("has the unknown domain %.40q", in.domain)
		}
	}
	return in, ""
}

// retire marks what the answer retires: what it names, else all that it cites.
func retire(insights []insight, named *[]int, facts []memory.Memory) error {
	var retiring []memory.Memory
	if named != nil {
		var why string
		if retiring, why = derivation.Cited(*named, facts); why != "" {
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
