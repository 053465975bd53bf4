package router

import (
	"context"
	"embed"
	"slices"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
)

const maxAnswerTokens = 100

//go:embed prompts/*.txt
var promptFiles embed.FS

var template = prompt.Parse(promptFiles, "route")

// NewLLM returns the router that asks a chat model. If the answer does not name
// 1 to MaxDomains known domains, the error is KindBadAnswer. Next to other domains,
// general_chat is ignored.
func NewLLM(chat llm.Chat) Router { return &model{chat: chat} }

type model struct{ chat llm.Chat }

func (m *model) Name() string { return m.chat.Model() }

func (m *model) Route(ctx context.Context, query string) ([]memory.Domain, error) {
	prompt, err := render(query)
	if err != nil {
		return nil, err
	}
	answer, err := m.chat.Answer(ctx, prompt)
	if err != nil {
		return nil, err
	}
	return parse(answer)
}

// render returns the prompt for a query, in its language.
func render(query string) (llm.Prompt, error) {
	quoted, err := prompt.Quote(query)
	if err != nil {
		return llm.Prompt{}, err
	}
	return template.Render(query, struct{ Query, Delimiter string }{quoted.Lines[0], quoted.Delimiter}, maxAnswerTokens)
}

func parse(answer string) ([]memory.Domain, error) {
	var reply struct {
		Domains []memory.Domain `json:"domains"`
	}
	if err := llm.Decode(answer, &reply); err != nil {
		return nil, err
	}
	if n := len(reply.Domains); n == 0 || n > MaxDomains {
		return nil, memory.Errorf(memory.KindBadAnswer, "the answer names %d domains: 1 to %d are expected", n, MaxDomains)
	}
	var domains []memory.Domain
	for _, d := range reply.Domains {
		if !slices.Contains(memory.Domains, d) {
			return nil, memory.Errorf(memory.KindBadAnswer, "the answer names the unknown domain %.40q", d)
		}
		if !slices.Contains(domains, d) {
			domains = append(domains, d)
		}
	}
	if len(domains) > 1 {
		domains = slices.DeleteFunc(domains, func(d memory.Domain) bool { return d == memory.GeneralChat })
	}
	return domains, nil
}
