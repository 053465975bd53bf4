package reflection

import (
	"cmp"
	"context"
	"embed"
	"slices"
	"strings"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
)

const (
	maxPromptRunes  = 24_000 // of facts in one prompt
	maxAnswerTokens = 4096
)

//go:embed prompts/*.txt
var promptFiles embed.FS

var template = prompt.Parse(promptFiles, "reflect")

// line is a fact as the model sees it.
type line struct {
	Number     int           `json:"number"`
	Said       string        `json:"said"` // day
	Domain     memory.Domain `json:"domain"`
	Importance float64       `json:"importance"`
	Fact       string        `json:"fact"`
}

// promptData fills a prompt file.
type promptData struct {
	prompt.Quoted // facts, one a line
	MaxInsights   int
}

// ask has the model condense the facts. What is private to an agent is asked
// for apart: no insight may carry it to another agent.
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
		if len(group) < leastFacts {
			continue
		}
		p, err := render(group)
		if err != nil {
			return nil, err
		}
		answer, err := s.Chat.Answer(ctx, p)
		if err != nil {
			return nil, err
		}
		insights, err := parse(answer, group)
		if err != nil {
			return nil, err
		}
		all = append(all, insights...)
	}
	return all, nil
}

// fit takes the latest changed facts that a prompt has room for, and puts
// them in the order in which they were said.
func fit(facts []memory.Memory) []memory.Memory {
	kept, room := []memory.Memory{}, maxPromptRunes
	for _, m := range facts {
		if room -= len([]rune(m.Content)); room < 0 && len(kept) > 0 {
			break
		}
		kept = append(kept, m)
	}
	slices.SortFunc(kept, func(a, b memory.Memory) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return kept
}

// render makes the prompt of some facts, in their language.
func render(facts []memory.Memory) (llm.Prompt, error) {
	lines, texts := make([]line, len(facts)), make([]string, len(facts))
	for i, m := range facts {
		lines[i] = line{i + 1, m.CreatedAt.Format("2006-01-02"), m.Domain, m.Importance, m.Content}
		texts[i] = m.Content
	}
	quoted, err := prompt.Quote(lines...)
	if err != nil {
		return llm.Prompt{}, err
	}
	return template.Render(strings.Join(texts, "\n"), promptData{quoted, maxInsights}, maxAnswerTokens)
}
