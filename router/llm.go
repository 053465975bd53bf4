package router

import (
	"context"
	"embed"
	"slices"
	"strings"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
)

const maxAnswerTokens = 100

//go:embed prompts
var promptFiles embed.FS

var template = prompt.Parse(promptFiles, "route")

// NewLLM returns the router that asks a chat model. If the answer does not name
// any known domain, the error is KindBadAnswer. Next to other domains, general_chat
// is ignored.
func NewLLM(chat llm.Chat) Router { return &model{chat: chat} }

type model struct{ chat llm.Chat }

func (m *model) Name() string { return m.chat.Model() }

func (m *model) Route(ctx context.Context, query string) ([]memory.Domain, error) {
	prompt, err := render(query)
	if err != nil {
		return nil, err
	}
	return llm.Ask(ctx, m.chat, prompt, parse)
}

// render returns the prompt for a query, in its language.
func render(query string) (llm.Prompt, error) {
	quoted, err := prompt.Quote(query)
	if err != nil {
		return llm.Prompt{}, err
	}
	return template.Render(query, struct{ Query, Delimiter string }{quoted.Lines[0], quoted.Delimiter}, maxAnswerTokens)
}

// parse reads an answer. It skips unknown domains next to known ones, and domains after MaxDomains.
func parse(answer *llm.Answer) ([]memory.Domain, error) {
	var reply struct {
		Domains llm.Items[string] `json:"domains"`
	}
	if err := answer.Decode(&reply); err != nil {
		return nil, err
	}
	var domains []memory.Domain
	for _, item := range reply.Domains {
		d := memory.Domain(strings.ToLower(strings.TrimSpace(item.Value)))
		switch {
		case slices.Contains(domains, d):
		case slices.Contains(memory.Domains, d):
			domains = append(domains, d)
		default:
			answer.Salvage("the domain %.40s is unknown", item.Raw)
		}
	}
	if len(domains) > 1 {
		domains = slices.DeleteFunc(domains, func(d memory.Domain) bool { return d == memory.GeneralChat })
	}
	if n := len(domains); n > MaxDomains {
		answer.Salvage("the answer names %d domains, %d too many", n, n-MaxDomains)
		domains = domains[:MaxDomains]
	}
	if len(domains) == 0 {
		return nil, llm.BadAnswer("the answer names no known domain: give 1 to %d of those listed", MaxDomains)
	}
	return domains, nil
}
