package app

import (
	"context"
	"fmt"

	"go.uber.org/zap"

	"hippocampus/db/tokens"
	"hippocampus/ingest/judge"
	"hippocampus/internal/bilingual"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/router"
	"hippocampus/scorer"
	"hippocampus/server/config"
)

// models are the language models and the embedder, or their replacements if there is no
// key.
type models struct {
	embedder  llm.Embedder     // as configured, which may not be the one that serves yet
	awaited   *awaitedEmbedder // takes the place of embedder when its endpoint answers; nil: nothing is awaited
	scorer    scorer.Scorer
	rules     scorer.Scorer // extract the facts of turns while the scorer fails; nil without a chat key or gate.fallback
	router    router.Router // nil without a chat key: rules route
	judge     judge.Judge   // nil without a chat key
	chat      llm.Chat      // for background work; nil without a chat key
	condenser llm.Chat      // for contexts; nil without a chat key
	reranker  llm.Reranker  // nil without rerank.base_url

	embedderName, scorerName, routerName string // for people

	parts  []modelPart // the models at an endpoint
	counts *llm.Counts // of all chat calls
	meter  *tokens.Meter
}

// modelPart is a model at an endpoint, whose state /readyz shows.
type modelPart struct {
	name   string
	health *llm.Health
	probe  func(ctx context.Context) // asks the endpoint, and so updates health
}

func openModels(ctx context.Context, b base, record *database) (*models, error) {
	m := &models{counts: llm.NewCounts(), meter: openMeter(b, record)}
	err := m.openEmbedder(ctx, b, record)
	if isAwaited(err) {
		m.awaitEmbedder(b, err)
	} else if err != nil {
		return nil, err
	}
	if err := m.openChat(ctx, b, record); err != nil {
		return nil, err
	}
	m.openReranker(b)
	_ = b.waitFor("the models", func() error { m.probe(ctx); return nil })
	return m, nil
}

// openChat opens the models of a chat key, or the rules that need no key.
func (m *models) openChat(ctx context.Context, b base, record *database) error {
	if b.cfg.Chat.APIKey == "" {
		const hint = "rules (weaker than a model: set DEEPSEEK_API_KEY for one)"
		m.scorer, m.scorerName = scorer.NewRules(), hint
		m.routerName = hint
		return nil
	}
	// Each use has its own breaker, so that timeouts of a use with a short deadline do not
	// stop another use.
	refused := llm.NewRefusedFields(record)
	if err := refused.Load(ctx, b.cfg.Chat.BaseURL); err != nil {
		return err
	}
	newClient := func(health *llm.Health) *llm.Client {
		options := chatOptions(b)
		options.RefusedFields = refused
		options.Health, options.Observer = health, m.counts
		options.Meter = m.meter
		client := llm.NewClient(options)
		b.life.onStop("chat", func(context.Context) error { client.Close(); return nil })
		return client
	}
	newPart := func(name string) *llm.Client {
		part := modelPart{name: name, health: llm.NewHealth()}
		client := newClient(part.health)
		part.probe = client.Probe
		m.parts = append(m.parts, part)
		return client
	}
	m.scorerName, m.routerName = b.cfg.Chat.ScorerModel, b.cfg.Chat.RouterModel
	chat := newPart("scorer").Chat(m.scorerName)
	m.scorer, m.chat = scorer.NewLLM(chat), chat
	if b.cfg.Gate.Fallback {
		m.rules = scorer.NewRules()
	}
	m.router = router.NewLLM(newPart("router").Chat(m.routerName))
	m.judge = judge.NewLLM(newClient(nil).Chat(m.scorerName))
	m.condenser = newClient(nil).Chat(m.scorerName)
	return nil
}

func (m *models) openReranker(b base) {
	cfg := b.cfg.Rerank
	if cfg.BaseURL == "" {
		return
	}
	part := modelPart{name: "reranker", health: llm.NewHealth()}
	options := chatOptions(b)
	options.BaseURL = cfg.BaseURL
	options.APIKey = cfg.APIKey
	options.Timeout = cfg.Timeout
	options.Retries = -1 // a second attempt would be late
	options.Health = part.health
	client := llm.NewClient(options)
	b.life.onStop("reranker", func(context.Context) error { client.Close(); return nil })
	part.probe = client.Probe
	m.parts = append(m.parts, part)
	m.reranker = client.Reranker(cfg.Model)
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
func (m *models) openEmbedder(ctx context.Context, b base, record *database) error {
	if !b.cfg.Embedding.Remote() {
		e := bilingual.New()
		m.embedder = e
		m.embedderName = fmt.Sprintf("built-in (%s, %d numbers; weaker than a model: set QWEN_API_KEY for one)",
			e.Model(), e.Dim())
		return nil
	}
	part := modelPart{name: "embedder", health: llm.NewHealth()}
	client, e, err := m.openConfiguredEmbedder(ctx, b, record, part.health)
	if err != nil {
		return err
	}
	b.life.onStop("embedder", func(context.Context) error { client.Close(); return nil })
	part.probe = func(ctx context.Context) {
		_, _ = e.Embed(ctx, llm.ForQuery, []string{"ready"}) // which updates health
	}
	m.parts = append(m.parts, part)
	m.embedder, m.embedderName = e, fmt.Sprintf("%s, %d numbers", e.Model(), e.Dim())
	return nil
}

// awaitEmbedder opens the built-in embedder instead of the configured one, which returned err. It serves unless the
// database has the vectors of another model.
func (m *models) awaitEmbedder(b base, err error) {
	b.log.Warn("another embedder serves until the configured one answers", zap.Error(err))
	m.awaited = &awaitedEmbedder{base: b, health: llm.NewHealth(), meter: m.meter}
	m.parts = append(m.parts, modelPart{name: "embedder", health: m.awaited.health, probe: m.awaited.probe})
	m.embedder = bilingual.New()
}

// openConfiguredEmbedder opens the model at the configured endpoint. If no dimension
// is configured, the endpoint is asked for it. If it does not answer, the dimension
// is that of the model's vectors in the database.
func (m *models) openConfiguredEmbedder(ctx context.Context, b base, record *database, health *llm.Health) (
	*llm.Client, llm.Embedder, error) {
	cfg := b.cfg.Embedding
	known := cfg.Dimension
	if known == 0 {
		state, err := record.ServingState(ctx)
		if err != nil {
			return nil, nil, err
		}
		for _, space := range []memory.Space{state.Previous, state.Serving, state.Target} {
			if space.Model == cfg.Model {
				known = space.Dim
			}
		}
	}
	asking, cancel := ctx, context.CancelFunc(func() {})
	if known > 0 {
		asking, cancel = context.WithTimeout(ctx, probeTimeout)
	}
	defer cancel()
	var client *llm.Client
	var e llm.Embedder
	err := b.waitFor("the embedding model "+cfg.Model, func() (err error) {
		client, e, err = openRemoteEmbedder(asking, b, cfg, health, m.meter)
		return err
	})
	switch {
	case err == nil:
		return client, e, nil
	case known == 0:
		return nil, nil, fmt.Errorf("%w; %w", err, errUnknownDimension)
	case !memory.IsKind(err, memory.KindUnavailable):
		return nil, nil, err
	}
	cfg.Dimension = known
	return openRemoteEmbedder(ctx, b, cfg, health, m.meter)
}

// openRemoteEmbedder opens an embedding model at an endpoint; health and meter may be nil.
func openRemoteEmbedder(ctx context.Context, b base, cfg config.Embedding, health *llm.Health, meter llm.Meter) (
	*llm.Client, llm.Embedder, error) {
	options := chatOptions(b)
	options.BaseURL = cfg.Endpoint()
	options.APIKey = cfg.APIKey
	options.Timeout = cfg.Timeout
	options.Retries = embeddingRetries
	options.Concurrency = cfg.Concurrency
	options.Health, options.Meter = health, meter
	client := llm.NewClient(options)
	e, err := client.Embedder(ctx, llm.EmbedderOptions{
		Model: cfg.Model, QueryPrefix: cfg.QueryPrefix, DocumentPrefix: cfg.DocumentPrefix,
		Dim: cfg.Dimension, BatchSize: cfg.Batch, Ollama: cfg.API == config.Ollama,
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
