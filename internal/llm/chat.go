package llm

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.uber.org/zap"

	"hippocampus/internal/memory"
	"hippocampus/internal/tracing"
)

// Chat returns the named model of the endpoint. It answers at temperature 0, in the strictest
// format of JSON that the model supports: by schema, as any object, or as free text. It is asked
// without the fields that it refuses, see RefusedFields. An answer without a choice is an error of
// KindBadAnswer.
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
	err := c.client.admit(ctx)
	if err == nil {
		answer, usage, err = c.send(ctx, p)
	}
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

// send calls the model and counts the tokens.
func (c *chat) send(ctx context.Context, p Prompt) (answer string, usage Usage, err error) {
	err = c.client.call(ctx, "asking "+c.model, func(ctx context.Context) error {
		response, err := c.complete(ctx, p)
		if err != nil {
			return err
		}
		usage = response.Usage.counted()
		if len(response.Choices) == 0 {
			return memory.Errorf(memory.KindBadAnswer, "the answer has no choice: check the base URL")
		}
		answer = response.Choices[0].Message.Content
		return nil
	})
	if tokens := usage.In + usage.Out; tokens > 0 || err == nil {
		c.client.count(ctx, memory.ChatTokens, tokens, p.System, p.User, answer)
	}
	return answer, usage, err
}

// complete sends one request. If the endpoint refuses a field that may be left out, it sends the request without
// that field at once, and so does every later request to the model.
func (c *chat) complete(ctx context.Context, p Prompt) (chatResponse, error) {
	options := c.client.options
	defer func() {
		if err := options.RefusedFields.keep(ctx); err != nil {
			options.Logger.Warn("which fields a model refuses is not stored", zap.Error(err))
		}
	}()
	for {
		request := c.request(p)
		var response chatResponse
		err := c.client.post(ctx, "/chat/completions", request, &response)
		var f *failure
		if !errors.As(err, &f) || !f.concernsRequest() {
			return response, err
		}
		field := refusedField(f.body, request)
		if field == "" {
			return response, err
		}
		refused := memory.RefusedField{Endpoint: endpointName(options.BaseURL), Model: c.model, Field: string(field)}
		if !options.RefusedFields.add(refused) {
			continue
		}
		options.Logger.Info("the model refuses a field, which is left out of all further requests",
			zap.String("endpoint", refused.Endpoint), zap.String("model", refused.Model),
			zap.String("field", refused.Field), zap.String("reason", c.client.redact(f.reason)))
		if err := options.RefusedFields.Load(ctx, options.BaseURL); err != nil { // what other processes have found
			options.Logger.Warn("which fields models refuse cannot be read", zap.Error(err))
		}
	}
}
