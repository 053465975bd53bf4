package app

import (
	"context"
	"fmt"

	"hippocampus/ingest/judge"
	"hippocampus/internal/llm"
	"hippocampus/internal/wordvec"
	"hippocampus/router"
	"hippocampus/scorer"
	"hippocampus/server/config"
)

// models are the language models and the embedder, or what stands in for them
// if there is no key.
type models struct {
	embedder  llm.Embedder // as configured, which may not be the one that serves yet
	scorer    scorer.Scorer
	router    router.Router
	judge     judge.Judge // nil without a chat key
	chat      llm.Chat    // for background work; nil without a chat key
	condenser llm.Chat    // for contexts; nil without a chat key

	embedderName, scorerName, routerName string // for people
}

func openModels(ctx context.Context, b base) (*models, error) {
	embedder, name, closeEmbedder, err := openEmbedder(ctx, b)
	if err != nil {
		return nil, err
	}
	b.life.onStop("embedder", func(context.Context) error { closeEmbedder(); return nil })
	if b.cfg.Chat.APIKey == "" {
		const hint = "rules (weaker than a model: set DEEPSEEK_API_KEY for one)"
		return &models{
			embedder: embedder, embedderName: name,
			scorer: scorer.NewRules(), scorerName: hint,
			router: router.NewRules(), routerName: hint,
		}, nil
	}
	// Each use has its own breaker, so that timeouts of one whose deadline is short
	// do not stop another.
	newChat := func(model string) llm.Chat {
		client := llm.NewClient(chatOptions(b))
		b.life.onStop("chat", func(context.Context) error { client.Close(); return nil })
		return client.Chat(model)
	}
	scorerModel, routerModel := b.cfg.Chat.ScorerModel, b.cfg.Chat.RouterModel
	chat := newChat(scorerModel)
	return &models{
		embedder: embedder, embedderName: name,
		scorer: scorer.NewLLM(chat), scorerName: scorerModel,
		router: router.NewLLM(newChat(routerModel)), routerName: routerModel,
		judge:     judge.NewLLM(newChat(scorerModel)),
		chat:      chat,
		condenser: newChat(scorerModel),
	}, nil
}

func chatOptions(b base) llm.Options {
	c := b.cfg.Chat
	return llm.Options{
		BaseURL: c.BaseURL, APIKey: c.APIKey, Timeout: c.Timeout, Retries: retries(c.Retries),
		MaxRetryWait: config.MaxRetryWait, Concurrency: c.Concurrency,
		BreakerFailures: breakerFailures, BreakerDelay: breakerDelay, Logger: b.log.Named("llm"), Now: b.now,
	}
}

// openEmbedder opens the configured embedder, or the built-in one without a key.
func openEmbedder(ctx context.Context, b base) (e llm.Embedder, name string, closeClient func(), err error) {
	if b.cfg.Embedding.APIKey == "" {
		e := wordvec.New()
		name := fmt.Sprintf("built-in (%s, %d numbers; weaker than a model: set QWEN_API_KEY for one)", e.Model(), e.Dim())
		return e, name, func() {}, nil
	}
	client, e, err := openRemoteEmbedder(ctx, b, b.cfg.Embedding)
	if err != nil {
		return nil, "", nil, err
	}
	return e, fmt.Sprintf("%s, %d numbers", e.Model(), e.Dim()), client.Close, nil
}

// openRemoteEmbedder opens an embedding model at an endpoint.
func openRemoteEmbedder(ctx context.Context, b base, cfg config.Embedding) (*llm.Client, llm.Embedder, error) {
	options := chatOptions(b)
	options.BaseURL = cfg.BaseURL
	options.APIKey = cfg.APIKey
	options.Timeout = cfg.Timeout
	options.Retries = embeddingRetries
	options.Concurrency = cfg.Concurrency
	client := llm.NewClient(options)
	e, err := client.Embedder(ctx, llm.EmbedderOptions{
		Model: cfg.Model, QueryPrefix: cfg.QueryPrefix, DocumentPrefix: cfg.DocumentPrefix,
		Dim: cfg.Dimension, BatchSize: cfg.Batch,
	})
	if err != nil {
		client.Close()
		return nil, nil, fmt.Errorf("embedder: %w", err)
	}
	return client, e, nil
}

// retries converts a number of retries to that of llm.Options, where 0 is the default.
func retries(n int) int {
	if n == 0 {
		return -1
	}
	return n
}
