package apptest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// Models starts a scripted endpoint and returns it with a client that neither
// retries nor stops calling after failures.
func Models(t testing.TB) (*llmtest.Server, *llm.Client) {
	t.Helper()
	server := llmtest.New(t)
	client := llm.NewClient(llm.Options{BaseURL: server.URL(), Retries: -1, BreakerFailures: 1000})
	t.Cleanup(client.Close)
	return server, client
}

// Chat is a chat model that a test scripts. Without a script it answers with an
// empty text.
type Chat struct {
	mu      sync.Mutex
	reply   func(llm.Prompt) (string, error)
	prompts []llm.Prompt
}

// OnPrompt answers every prompt by reply, which several goroutines may call at once.
func (c *Chat) OnPrompt(reply func(llm.Prompt) (string, error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reply = reply
}

// Answers answers every prompt with this text.
func (c *Chat) Answers(text string) {
	c.OnPrompt(func(llm.Prompt) (string, error) { return text, nil })
}

// Prompts returns the prompts so far, in order.
func (c *Chat) Prompts() []llm.Prompt {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.prompts)
}

// Model implements llm.Chat.
func (c *Chat) Model() string { return "scripted" }

// Answer implements llm.Chat.
func (c *Chat) Answer(_ context.Context, p llm.Prompt) (string, error) {
	c.mu.Lock()
	c.prompts = append(c.prompts, p)
	reply := c.reply
	c.mu.Unlock()
	if reply == nil {
		return "", nil
	}
	return reply(p)
}

// Rationed is a model that an app may ask no more today, since it has used up its quota of tokens.
type Rationed struct {
	llm.Chat
	AppID string
}

// Answer implements llm.Chat.
func (r Rationed) Answer(ctx context.Context, p llm.Prompt) (string, error) {
	if llm.AppOf(ctx) == r.AppID {
		return "", ErrQuota
	}
	return r.Chat.Answer(ctx, p)
}

// ErrQuota is the error of a call of an app that has used up its quota of tokens.
var ErrQuota = &memory.Error{
	Kind: memory.KindUnavailable, Limit: "quotas.chat_tokens", RetryAfter: time.Hour,
	Err: errors.New("the app has used up its tokens"),
}

// Embedder counts its calls, and fails if a test wants it to.
type Embedder struct {
	llm.Embedder
	mu    sync.Mutex
	err   error
	calls int
}

// HashedEmbedder returns an Embedder that hashes words into dim numbers.
func HashedEmbedder(dim int) *Embedder { return &Embedder{Embedder: llm.Hashed(dim)} }

// FailWith makes every call return err; nil makes them succeed again.
func (e *Embedder) FailWith(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.err = err
}

// Calls counts the calls so far, including those that failed.
func (e *Embedder) Calls() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.calls
}

// Embed implements llm.Embedder.
func (e *Embedder) Embed(ctx context.Context, use llm.Use, texts []string) ([][]float32, error) {
	e.mu.Lock()
	e.calls++
	err := e.err
	e.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return e.Embedder.Embed(ctx, use, texts)
}
