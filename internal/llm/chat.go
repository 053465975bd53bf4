package llm

import (
	"context"
	"math"

	"github.com/sashabaranov/go-openai"

	"hippocampus/internal/memory"
)

// Chat returns the named model of the endpoint. It answers in JSON-object mode at
// temperature 0. An answer without a choice is an error of KindBadAnswer.
func (c *Client) Chat(model string) Chat { return &chat{client: c, model: model} }

type chat struct {
	client *Client
	model  string
}

func (c *chat) Model() string { return c.model }

func (c *chat) Answer(ctx context.Context, p Prompt) (string, error) {
	request := c.request(p)
	var answer string
	err := c.client.call(ctx, "asking "+c.model, func(ctx context.Context) error {
		response, err := c.client.api.CreateChatCompletion(ctx, request)
		if err != nil {
			return err
		}
		if len(response.Choices) == 0 {
			return memory.Errorf(memory.KindBadAnswer, "the answer has no choice: check the base URL")
		}
		answer = response.Choices[0].Message.Content
		return nil
	})
	return answer, err
}

func (c *chat) request(p Prompt) openai.ChatCompletionRequest {
	request := openai.ChatCompletionRequest{
		Model: c.model,
		Messages: []openai.ChatCompletionMessage{
			{Role: openai.ChatMessageRoleSystem, Content: p.System},
			{Role: openai.ChatMessageRoleUser, Content: p.User},
		},
		ResponseFormat: &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject},
		MaxTokens:      p.MaxTokens,
		Temperature:    math.SmallestNonzeroFloat32, // the library omits 0 from the request
	}
	// Reasoning models accept neither MaxTokens nor Temperature; the library knows their names.
	if openai.NewReasoningValidator().Validate(request) != nil {
		request.MaxTokens, request.MaxCompletionTokens = 0, p.MaxTokens
		request.Temperature = 0
	}
	return request
}
