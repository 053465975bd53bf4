package llm

import "encoding/json"

// chatRequest is the body of a chat call. It has the fields that every request needs, and those that a model may
// refuse, which are nil or 0 if they are left out.
type chatRequest struct {
	Model               string          `json:"model"`
	Messages            []chatMessage   `json:"messages"`
	MaxTokens           int             `json:"max_tokens,omitempty"`
	MaxCompletionTokens int             `json:"max_completion_tokens,omitempty"`
	Temperature         *int            `json:"temperature,omitempty"`
	ResponseFormat      *responseFormat `json:"response_format,omitempty"`
}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type responseFormat struct {
	Type   string      `json:"type"`
	Schema *jsonSchema `json:"json_schema,omitempty"`
}

type jsonSchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict"`
}

// request makes the body of a prompt, without the fields that the model refuses.
func (c *chat) request(p Prompt) chatRequest {
	r := chatRequest{
		Model:    c.model,
		Messages: []chatMessage{{"system", p.System}, {"user", p.User}},
	}
	if p.Refused != nil {
		answer, correction := p.Refused.messages(p)
		r.Messages = append(r.Messages, chatMessage{"assistant", answer}, chatMessage{"user", correction})
	}
	refused := c.client.options.RefusedFields.of(endpointName(c.client.options.BaseURL), c.model)
	if !refused[temperature] {
		r.Temperature = new(int)
	}
	switch {
	case !refused[maxTokens]:
		r.MaxTokens = p.MaxTokens
	case !refused[maxCompletionTokens]:
		r.MaxCompletionTokens = p.MaxTokens
	}
	switch {
	case len(p.Schema) > 0 && !refused[formatSchema]:
		schema := &jsonSchema{Name: p.Name, Schema: p.Schema, Strict: true}
		r.ResponseFormat = &responseFormat{Type: "json_schema", Schema: schema}
	case !refused[formatObject]:
		r.ResponseFormat = &responseFormat{Type: "json_object"}
	}
	return r
}

// chatResponse is the answer to a chat call.
type chatResponse struct {
	Choices []struct {
		Message struct {
			Content string `json:"content"`
		} `json:"message"`
	} `json:"choices"`
	Usage chatUsage `json:"usage"`
}

type chatUsage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	Details          struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CacheHits int `json:"prompt_cache_hit_tokens"` // DeepSeek's name of the cached tokens
}

func (u chatUsage) counted() Usage {
	usage := Usage{In: u.PromptTokens, Cached: u.Details.Cached, Out: u.CompletionTokens}
	if usage.Cached == 0 {
		usage.Cached = u.CacheHits
	}
	return usage
}
