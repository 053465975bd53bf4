package reflection

import (
	"cmp"
	"context"
	"embed"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
	"hippocampus/reflection/derivation"
)

const maxPromptRunes = 24_000 // of facts in one prompt

//go:embed prompts/*.txt
var promptFiles embed.FS

var template = prompt.Parse(promptFiles, "reflect")

// promptFact is a fact in a prompt.
type promptFact struct {
	Number     int           `json:"number"`
	Said       string        `json:"said"` // day
	Domain     memory.Domain `json:"domain"`
	Importance float64       `json:"importance"`
	Fact       string        `json:"fact"`
}

// promptData fills a prompt file.
type promptData struct {
	prompt.Quoted // facts, one per line
	MaxInsights   int
}

// ask has the model condense the facts. It asks for each agent's private facts
// separately, so that no insight reveals them to another agent.
func (s *Service) ask(ctx context.Context, facts []memory.Memory) (all []insight, err error) {
	byAgent := map[string][]memory.Memory{}
	var agents []string
	for _, m := range facts {
		if byAgent[m.AgentID] == nil {
			agents = append(agents, m.AgentID)
		}
		byAgent[m.AgentID] = append(byAgent[m.AgentID], m)
	}
	slices.Sort(agents)
	for _, agent := range agents {
		group := fit(byAgent[agent])
		if len(group) < Always.MinFacts {
			continue
		}
		insights, err := s.askAbout(ctx, group)
		if err != nil {
			return nil, err
		}
		all = append(all, insights...)
	}
	return all, nil
}

// askAbout asks for insights from one agent's facts, in the language of the facts.
func (s *Service) askAbout(ctx context.Context, facts []memory.Memory) ([]insight, error) {
	lines, texts := make([]promptFact, len(facts)), make([]string, len(facts))
	for i, m := range facts {
		lines[i] = promptFact{
			Number: i + 1, Said: m.CreatedAt.Format(time.DateOnly), Domain: m.Domain, Importance: m.Importance, Fact: m.Content,
		}
		texts[i] = m.Content
	}
	quoted, err := prompt.Quote(lines...)
	if err != nil {
		return nil, err
	}
	answer, err := template.Ask(ctx, s.Chat, strings.Join(texts, "\n"), promptData{quoted, maxInsights})
	if err != nil {
		return nil, err
	}
	return parse(answer, facts)
}

// fit returns the most recently changed facts that fit into a prompt, oldest first.
func fit(facts []memory.Memory) []memory.Memory {
	kept, room := []memory.Memory{}, maxPromptRunes
	for _, m := range facts {
		if room -= utf8.RuneCountInString(m.Content); room < 0 && len(kept) > 0 {
			break
		}
		kept = append(kept, m)
	}
	slices.SortFunc(kept, func(a, b memory.Memory) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return kept
}

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

// retire sets which sources each insight retires: those that the answer names.
func retire(insights []insight, named *[]int, facts []memory.Memory) error {
	var retiring []string
	if named != nil {
		found, why := derivation.Cited(*named, facts)
		if why != "" {
			return llm.BadAnswer("retire %s", why)
		}
		retiring = memory.IDs(found)
	}
	cited := map[string]bool{}
	for i := range insights {
		for _, m := range insights[i].Sources {
			cited[m.ID] = true
			if slices.Contains(retiring, m.ID) {
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
