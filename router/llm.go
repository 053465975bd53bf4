package router

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"text/template"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

const maxAnswerTokens = 100

//go:embed prompts/*.txt
var promptFiles embed.FS

var (
	promptEN = template.Must(template.ParseFS(promptFiles, "prompts/route.en.txt"))
	promptZH = template.Must(template.ParseFS(promptFiles, "prompts/route.zh.txt"))
)

// NewLLM is the router that asks a chat model. An answer that does not name 1
// to MaxDomains known domains is KindBadAnswer.
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

// render makes the prompt of a query, in its language.
func render(query string) (llm.Prompt, error) {
	var quoted bytes.Buffer
	encoder := json.NewEncoder(&quoted)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(query); err != nil {
		return llm.Prompt{}, memory.Errorf(memory.KindInternal, "quote a query for the router: %w", err)
	}
	sum := sha256.Sum256(quoted.Bytes()) // no query can hold its own hash
	data := struct{ Query, Delimiter string }{
		strings.TrimSuffix(quoted.String(), "\n"),
		"=====" + hex.EncodeToString(sum[:8]) + "=====",
	}
	prompt := promptEN
	if text.IsChinese(query) {
		prompt = promptZH
	}
	var system, user strings.Builder
	for name, into := range map[string]*strings.Builder{"system": &system, "user": &user} {
		if err := prompt.ExecuteTemplate(into, name, data); err != nil {
			return llm.Prompt{}, memory.Errorf(memory.KindInternal, "fill the router's prompt: %w", err)
		}
	}
	return llm.Prompt{System: system.String(), User: user.String(), MaxTokens: maxAnswerTokens}, nil
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
		if !memory.Known(memory.Domains, d) {
			return nil, memory.Errorf(memory.KindBadAnswer, "the answer names the unknown domain %.40q", d)
		}
		if !slices.Contains(domains, d) {
			domains = append(domains, d)
		}
	}
	return domains, nil
}
