package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"hippocampus/db/jobs"
	"hippocampus/internal/bilingual"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/wordvec"
	"hippocampus/server/api"
	"hippocampus/server/config"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/projection"
	"hippocampus/vectorstore/reembed"
)

// spaces opens the embedder and the vectors of an embedding space.
type spaces struct {
	base   base
	meter  llm.Meter
	target memory.Space // target space at the start

	mu          sync.Mutex
	configured  llm.Embedder
	vectorsName string        // for people
	clients     []*llm.Client // of embedders other than the configured one
}

// openSpaces opens the space that serves according to the database, else the
// configured one.
func openSpaces(ctx context.Context, b base, record *database, m *models) (*spaces, *reembed.Switch, error) {
	s := &spaces{base: b, meter: m.meter, configured: m.embedder, target: llm.SpaceOf(m.embedder)}
	b.life.onStop("other embedders", func(context.Context) error { s.close(); return nil })
	state, err := record.ServingState(ctx)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case state.Serving.Model == "":
		state.Serving = s.target
	case m.awaited != nil:
		s.target = state.Target // the configured space is not known yet
	}
	if m.awaited != nil {
		m.embedderName = state.Serving.Model + ", until " + b.cfg.Embedding.Model + " answers"
	}
	warnOfOpenMilvus(b.cfg, b.log)
	first, err := s.open(ctx, state.Serving, connectVectors)
	if err != nil {
		return nil, nil, err
	}
	return s, reembed.NewSwitch(first), nil
}

// openServing opens the embedder and the vectors of a space, which then serve.
func (s *spaces) openServing(ctx context.Context, space memory.Space) (reembed.Pair, error) {
	return s.open(ctx, space, openVectors)
}

// opener opens the vectors of a space; the returned name is for people.
type opener func(context.Context, config.Config, memory.Space, *zap.Logger) (vectorstore.Store, string, error)

func (s *spaces) open(ctx context.Context, space memory.Space, vectorsOf opener) (reembed.Pair, error) {
	vectors, name, err := vectorsOf(ctx, s.base.cfg, space, s.base.log)
	if err != nil {
		return reembed.Pair{}, err
	}
	s.mu.Lock()
	s.vectorsName = name
	s.mu.Unlock()
	embedder, err := s.embedder(ctx, space)
	if err != nil {
		return reembed.Pair{}, errors.Join(err, vectors.Close())
	}
	return reembed.Pair{Space: space, Embedder: embedder, Vectors: vectors}, nil
}

// canEmbed reports whether this server is configured to embed for a space.
func (s *spaces) canEmbed(space memory.Space) bool {
	return space == llm.SpaceOf(s.configuredEmbedder()) || builtIn(space) != nil
}

func (s *spaces) configuredEmbedder() llm.Embedder {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.configured
}

// configure sets the configured embedder, which was not known at the start.
func (s *spaces) configure(e llm.Embedder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.configured = e
}

// builtIn returns the embedder of a space that needs no endpoint, or nil. Old
// data folders have vectors of words or hashed vectors, which serve until they are
// re-embedded.
func builtIn(space memory.Space) llm.Embedder {
	switch space {
	case memory.Space{Model: bilingual.Model, Dim: bilingual.Dim}:
		return bilingual.New()
	case memory.Space{Model: wordvec.Model, Dim: wordvec.Dim}:
		return wordvec.New()
	case memory.Space{Model: llm.HashedModel, Dim: llm.HashedDim}:
		return llm.Hashed(llm.HashedDim)
	}
	return nil
}

// embedder returns the embedder of a space: the configured one, a built-in one,
// or the one that embedding.previous leads to, by default another model at the
// configured endpoint.
func (s *spaces) embedder(ctx context.Context, space memory.Space) (llm.Embedder, error) {
	if configured := s.configuredEmbedder(); space == llm.SpaceOf(configured) {
		return configured, nil
	}
	if e := builtIn(space); e != nil {
		return e, nil
	}
	cfg := s.base.cfg.Embedding
	override := func(field *string, previous string) {
		if previous != "" {
			*field = previous
		}
	}
	override(&cfg.APIKey, cfg.Previous.APIKey)
	override(&cfg.BaseURL, cfg.Previous.BaseURL)
	override(&cfg.QueryPrefix, cfg.Previous.QueryPrefix)
	override(&cfg.DocumentPrefix, cfg.Previous.DocumentPrefix)
	if !cfg.Remote() {
		return unavailableEmbedder{space}, nil
	}
	cfg.Model = space.Model
	cfg.Dimension = space.Dim // not 0, which would call the endpoint
	client, embedder, err := openRemoteEmbedder(ctx, s.base, cfg, nil, s.meter)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients = append(s.clients, client)
	return embedder, nil
}

func (s *spaces) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, client := range s.clients {
		client.Close()
	}
}

// unavailableEmbedder is the embedder of a space without a known endpoint; every call fails.
type unavailableEmbedder struct{ space memory.Space }

func (u unavailableEmbedder) Model() string { return u.space.Model }
func (u unavailableEmbedder) Dim() int      { return u.space.Dim }

func (u unavailableEmbedder) Embed(context.Context, llm.Use, []string) ([][]float32, error) {
	return nil, memory.Errorf(memory.KindUnavailable,
		"memories are served by the embedding model %s, for which this server has no endpoint: "+
			"set embedding.previous.api_key, or wait until they are re-embedded", u.space.Model)
}

// startReembedding makes the space of the configured embedder the one that
// serves. The note for the banner is empty if no memory needs re-embedding.
func startReembedding(ctx context.Context, b base, record *database, s *spaces, sw *reembed.Switch,
	push *projection.Projection, maintenance *projection.Maintenance) (service *reembed.Service, note string, err error) {
	log := b.log.Named("reembedding")
	service = reembed.New(reembed.Parts{
		Records: record, Switch: sw, Maintenance: maintenance, SawUnembedded: push.SawUnembedded,
		Open: s.openServing, CanEmbed: s.canEmbed,
		RequestWork: func(ctx context.Context) (bool, error) {
			return jobs.RequestAt(ctx, record, api.Reembedding, memory.Instant(b.now().Truncate(reembeddingLease)))
		},
		Now: b.now, Log: log,
	}, reembed.Settings{
		Interval: time.Second, RetryWords: retryWords, Lease: reembeddingLease, Slice: time.Minute,
		Page: 100, MaxRemaining: 100, KeepPrevious: 15 * time.Second,
		Backoff: pushRetryDelay, BackoffLimit: pushRetryLimit, Grace: b.cfg.Projection.Grace,
	})
	progress, err := service.Begin(ctx, s.target)
	if err != nil {
		return nil, "", fmt.Errorf("read the serving embedding model: %w", err)
	}
	if progress.Serving != progress.Target {
		log.Info("memories are being re-embedded; recall uses the previous model until then",
			zap.String("from", progress.Serving.Model), zap.String("to", progress.Target.Model),
			zap.Int("memories", progress.Remaining))
		note = fmt.Sprintf("\n                %d memories are being re-embedded from %s, which serves until then",
			progress.Remaining, progress.Serving.Model)
	}
	b.life.run("reembedding", service.Run)
	return service, note, nil
}
