package reflection

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
	"hippocampus/reflection/derivation"
)

const maxPromptRunes = 24_000 // of facts in one prompt

//go:embed prompts
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
func (s *Service) ask(ctx context.Context, facts []memory.Memory) (all findings, err error) {
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
		found, err := s.askAbout(ctx, group)
		if err != nil {
			return findings{}, err
		}
		all.insights = append(all.insights, found.insights...)
		all.leftOut = append(all.leftOut, found.leftOut...)
	}
	return all, nil
}

// askAbout asks for insights from one agent's facts, in the language of the facts.
func (s *Service) askAbout(ctx context.Context, facts []memory.Memory) (findings, error) {
	zone, err := s.Zone.Of(ctx, facts[0].Owner)
	if err != nil {
		return findings{}, err
	}
	facts = memory.In(zone, facts...)
	lines, texts := make([]promptFact, len(facts)), make([]string, len(facts))
	for i, m := range facts {
		lines[i] = promptFact{
			Number: i + 1, Said: m.CreatedAt.Format(prompt.Day), Domain: m.Domain, Importance: m.Importance, Fact: m.Content,
		}
		texts[i] = m.Content
	}
	quoted, err := prompt.Quote(lines...)
	if err != nil {
		return findings{}, err
	}
	return prompt.Ask(ctx, template, s.Chat, strings.Join(texts, "\n"), promptData{quoted, maxInsights},
		func(answer *llm.Answer) (findings, error) { return parse(answer, facts) })
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

// findings are a checked answer.
type findings struct {
	insights []insight
	leftOut  []string // the refused parts of the answer, with the reasons
}

// parse reads an answer about facts that were numbered from 1. A bad insight is left out, and the others are read.
// KindBadAnswer: there is no list of insights, or it has only bad insights.
func parse(answer *llm.Answer, facts []memory.Memory) (found findings, err error) {
	var reply struct {
		Insights llm.Items[struct {
			Insight string             `json:"insight"`
			Sources derivation.Numbers `json:"sources"`
			Domain  memory.Domain      `json:"domain"`
		}] `json:"insights"`
		Retire derivation.Numbers `json:"retire"`
	}
	if err := answer.Decode(&reply); err != nil {
		return found, err
	}
	if reply.Insights == nil {
		return found, llm.BadAnswer("the answer has no insights field")
	}
	proposals := make([]derivation.Proposal, len(reply.Insights))
	for i, p := range reply.Insights {
		proposals[i] = derivation.Proposal{
			Text: p.Value.Insight, Sources: p.Value.Sources, Domain: p.Value.Domain, Err: p.Err,
		}
	}
	rules := derivation.Rules{Field: "insights", Template: template, Max: maxInsights, MaxRunes: maxInsightRunes}
	conclusions, leftOut, err := rules.Check(proposals, facts)
	if err != nil {
		return found, err
	}
	found.leftOut = leftOut
	for _, c := range conclusions {
		c.Type, c.Importance = memory.TypeReflection, Importance
		found.insights = append(found.insights, insight{Conclusion: c})
	}
	found.retire(reply.Retire, facts)
	for _, why := range found.leftOut {
		answer.Salvage("%s", why)
	}
	return found, nil
}

// retire sets which sources each insight retires: those that the answer names. It leaves out numbers that no insight
// cites.
func (f *findings) retire(named derivation.Numbers, facts []memory.Memory) {
	for _, wrong := range named.Wrong {
		f.leftOut = append(f.leftOut, fmt.Sprintf("retire names %s, which is no number", wrong))
	}
	for _, number := range named.All {
		cited := false
		for i := range f.insights {
			in := &f.insights[i]
			if number >= 1 && number <= len(facts) && slices.Contains(memory.IDs(in.Sources), facts[number-1].ID) {
				in.retire = append(in.retire, facts[number-1].ID)
				cited = true
			}
		}
		if !cited {
			f.leftOut = append(f.leftOut, fmt.Sprintf("retire names %d, which no insight cites", number))
		}
	}
}
