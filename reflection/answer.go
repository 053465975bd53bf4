package reflection

import (
	"slices"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/reflection/derivation"
)

const (
	maxInsights     = 10 // of one answer
	maxInsightRunes = 1000
)

// insight is a checked insight.
type insight struct {
	derivation.Conclusion
	retire []string // ids of the sources that retire
}

// parse reads an answer about facts that were numbered from 1. It refuses the
// whole answer if any part of it is wrong (KindBadAnswer).
func parse(answer string, facts []memory.Memory) ([]insight, error) {
	var reply struct {
		Insights *[]struct { // a nil field was missing or null
			Insight *string        `json:"insight"`
			Sources *[]int         `json:"sources"`
			Domain  *memory.Domain `json:"domain"`
		} `json:"insights"`
		Retire *[]int `json:"retire"`
	}
	if err := llm.Decode(answer, &reply); err != nil {
		return nil, err
	}
	if reply.Insights == nil {
		return nil, llm.BadAnswer("the answer has no insights field")
	}
	proposals := make([]derivation.Proposal, len(*reply.Insights))
	for i, p := range *reply.Insights {
		proposals[i] = derivation.Proposal{Text: p.Insight, Sources: p.Sources}
	}
	rules := derivation.Rules{Field: "insights", Template: template, Max: maxInsights, MaxRunes: maxInsightRunes}
	conclusions, err := rules.Check(proposals, facts)
	if err != nil {
		return nil, err
	}
	insights := make([]insight, len(conclusions))
	for i, c := range conclusions {
		c.Type, c.Importance = memory.TypeReflection, Importance
		if domain := (*reply.Insights)[i].Domain; domain != nil {
			if c.Domain = *domain; !slices.Contains(memory.Domains, c.Domain) {
				return nil, llm.BadAnswer("insights[%d] has the unknown domain %.40q", i, c.Domain)
			}
		}
		insights[i].Conclusion = c
	}
	return insights, retire(insights, reply.Retire, facts)
}

// retire sets which sources each insight retires: those that the answer names,
// or all if it has no retire field.
func retire(insights []insight, named *[]int, facts []memory.Memory) error {
	var retiring []string
	if named != nil {
		found, why := derivation.Cited(*named, facts)
		if why != "" {
			return llm.BadAnswer("retire %s", why)
		}
		retiring = derivation.IDs(found)
	}
	cited := map[string]bool{}
	for i := range insights {
		for _, m := range insights[i].Sources {
			cited[m.ID] = true
			if named == nil || slices.Contains(retiring, m.ID) {
				insights[i].retire = append(insights[i].retire, m.ID)
			}
		}
	}
	for _, id := range retiring {
		if !cited[id] {
			return llm.BadAnswer("the answer would retire a fact that no insight cites")
		}
	}
	return nil
}
