package llm

import (
	"context"

	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// Meter counts the tokens of models for the apps that calls are made for, and may refuse chat calls. Several goroutines
// may call it at once.
type Meter interface {
	// Admit returns an error if an app may use no more tokens of chat models now. It is KindUnavailable, with Limit and
	// RetryAfter.
	Admit(ctx context.Context, appID string) error
	// Count adds tokens.
	Count(appID string, kind memory.TokenKind, n int)
	// Estimate is Count of texts, whose tokens are counted later.
	Estimate(appID string, kind memory.TokenKind, texts ...string)
}

type appKey struct{}

// ForApp returns a context whose calls of models are made for an app. Calls without an app are not counted.
func ForApp(ctx context.Context, appID string) context.Context {
	if appID == "" || AppOf(ctx) == appID {
		return ctx
	}
	return context.WithValue(ctx, appKey{}, appID)
}

// AppOf returns the app that calls of models are made for, or "".
func AppOf(ctx context.Context) string {
	appID, _ := ctx.Value(appKey{}).(string)
	return appID
}

// admit returns the error of a chat call that may not be sent. Neither the breaker nor Health gets to know of it.
func (c *Client) admit(ctx context.Context) error {
	appID := AppOf(ctx)
	if c.options.Meter == nil || appID == "" {
		return nil
	}
	return c.options.Meter.Admit(ctx, appID)
}

// count counts the tokens of a successful call. If the endpoint reports no tokens, it estimates them from the texts.
func (c *Client) count(ctx context.Context, kind memory.TokenKind, tokens int, texts ...string) {
	appID := AppOf(ctx)
	if c.options.Meter == nil || appID == "" {
		return
	}
	if tokens > 0 {
		c.options.Meter.Count(appID, kind, tokens)
	} else {
		c.options.Meter.Estimate(appID, kind, texts...)
	}
}

// EstimateTokens returns about how many tokens a model needs for texts.
func EstimateTokens(texts ...string) (n int) {
	for _, s := range texts {
		n += text.CountTokens(s)
	}
	return n
}
