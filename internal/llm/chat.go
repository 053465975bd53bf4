package llm

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/sashabaranov/go-openai"
	"go.opentelemetry.io/otel/attribute"

	"hippocampus/internal/memory"
	"hippocampus/internal/tracing"
)

// Chat returns the named model of the endpoint. It answers at temperature 0, in the strictest
// format of JSON that the endpoint supports: by schema, as any object, or as free text. An answer
// without a choice is an error of KindBadAnswer.
func (c *Client) Chat(model string) Chat { return &chat{client: c, model: model} }

type chat struct {
	client *Client
	model  string
}

func (c *chat) Model() string { return c.model }

func (c *chat) onAnswer(reading Reading) {
	if o := c.client.options.Observer; o != nil {
		o.OnAnswer(reading)
	}
}

func (c *chat) Answer(ctx context.Context, p Prompt) (string, error) {
	took := c.client.stopwatch()
	ctx, s := c.client.startSpan(ctx, "chat", c.model, apiOpenAI)
	var answer string
	var usage Usage
	err := c.client.call(ctx, "asking "+c.model, func(ctx context.Context) error {
		response, err := c.complete(ctx, p)
		if err != nil {
			return err
		}
		usage = usageOf(response)
		if len(response.Choices) == 0 {
			return memory.Errorf(memory.KindBadAnswer, "the answer has no choice: check the base URL")
		}
		answer = response.Choices[0].Message.Content
		return nil
	})
	if s.IsRecording() {
		s.SetAttributes(attribute.String("hippocampus.prompt", p.Name))
	}
	setUsage(s, usage)
	tracing.End(s, err)
	if o := c.client.options.Observer; o != nil {
		o.OnCall(Call{Prompt: p.Name, Model: c.model, Took: took(), Usage: usage, Err: err})
	}
	return answer, err
}

func usageOf(r openai.ChatCompletionResponse) Usage {
	usage := Usage{In: r.Usage.PromptTokens, Out: r.Usage.CompletionTokens}
	if details := r.Usage.PromptTokensDetails; details != nil {
		usage.Cached = details.CachedTokens
	}
	if usage.Cached == 0 {
		usage.Cached, _ = strconv.Atoi(r.Header().Get(cacheHeader)) // 0 if there is no such number
	}
	return usage
}

// formats are the response formats, best first.
var formats = []openai.ChatCompletionResponseFormatType{
	openai.ChatCompletionResponseFormatTypeJSONSchema,
	openai.ChatCompletionResponseFormatTypeJSONObject,
	openai.ChatCompletionResponseFormatTypeText,
}

// complete sends one request. If the endpoint refuses its response format, it sends the next one, and
// the client sends no refused format again.
func (c *chat) complete(ctx context.Context, p Prompt) (openai.ChatCompletionResponse, error) {
	for {
		refused := c.client.refusedFormats.Load()
		format := formats[refused]
		if len(p.Schema) == 0 && refused == 0 {
			format, refused = formats[1], 1
		}
		response, err := c.client.api.CreateChatCompletion(ctx, c.request(p, format))
		if !refusesFormat(err) || format == openai.ChatCompletionResponseFormatTypeText {
			return response, err
		}
		for known := c.client.refusedFormats.Load(); known <= refused; known = c.client.refusedFormats.Load() {
			c.client.refusedFormats.CompareAndSwap(known, refused+1)
		}
	}
}

// refusesFormat reports whether an endpoint refused a request because of its response format.
func refusesFormat(err error) bool {
	var f *failure
	if !errors.As(err, &f) || !f.concernsRequest() {
		return false
	}
	reason := strings.ToLower(f.reason)
	for _, word := range []string{"response_format", "response format", "json_schema", "json_object", "json mode"} {
		if strings.Contains(reason, word) {
			return true
		}
	}
	return false
}

func (c *chat) request(p Prompt, format openai.ChatCompletionResponseFormatType) openai.ChatCompletionRequest {
	request := openai.ChatCompletionRequest{
		Model: c.model,
		Messages: []openai.ChatCompletionMessage{
			{Role: openai.ChatMessageRoleSystem, Content: p.System},
			{Role: openai.ChatMessageRoleUser, Content: p.User},
		},
		MaxTokens:   p.MaxTokens,
		Temperature: math.SmallestNonzeroFloat32, // the library omits 0; doer sends it as 0
	}
	if p.Refused != nil {
		answer, correction := p.Refused.messages(p)
		request.Messages = append(request.Messages,
			openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant, Content: answer},
			openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: correction})
	}
	if format != openai.ChatCompletionResponseFormatTypeText {
		request.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: format}
	}
	if format == openai.ChatCompletionResponseFormatTypeJSONSchema {
		request.ResponseFormat.JSONSchema = &openai.ChatCompletionResponseFormatJSONSchema{
			Name: p.Name, Schema: p.Schema, Strict: true,
		}
	}
	// Reasoning models accept neither MaxTokens nor Temperature; the library knows their names.
	if openai.NewReasoningValidator().Validate(request) != nil {
		request.MaxTokens, request.MaxCompletionTokens = 0, p.MaxTokens
		request.Temperature = 0
	}
	return request
}
