package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"hippocampus/db/jobs"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/wordvec"
	"hippocampus/server/api"
	"hippocampus/server/config"
	"hippocampus/vectorstore/projection"
	"hippocampus/vectorstore/reembed"
)

// pairs opens embedders together with the vectors of their space.
type pairs struct {
	cfg        config.Config
	configured llm.Embedder
	options    llm.Options
	log        *zap.Logger

	vectors string // for people

	mu      sync.Mutex
	clients []*llm.Client // of embedders that are not the configured one
}

// openPairs begins with the pair that the database says serves, which is the
// configured one where it says nothing.
func openPairs(ctx context.Context, cfg config.Config, store *database, configured llm.Embedder, o llm.Options, life *lifecycle, log *zap.Logger) (*pairs, *reembed.Switch, error) {
	p := &pairs{cfg: cfg, configured: configured, options: o, log: log}
	life.onStop("other embedders", func(context.Context) error { p.close(); return nil })
	state, err := store.ServingState(ctx)
	if err != nil {
		return nil, nil, err
	}
	if state.Serving.Model == "" {
		state.Serving = llm.SpaceOf(configured)
	}
	first, err := p.open(ctx, state.Serving)
	if err != nil {
		return nil, nil, err
	}
	return p, reembed.NewSwitch(first), nil
}

func (p *pairs) open(ctx context.Context, space memory.Space) (reembed.Pair, error) {
	vectors, name, err := openVectors(ctx, p.cfg, space, p.log)
	if err != nil {
		return reembed.Pair{}, err
	}
	p.mu.Lock()
	p.vectors = name
	p.mu.Unlock()
	embedder, err := p.embedder(ctx, space)
	if err != nil {
		return reembed.Pair{}, errors.Join(err, vectors.Close())
	}
	return reembed.Pair{Space: space, Embedder: embedder, Vectors: vectors}, nil
}

// able reports whether this server is configured to embed for a space.
func (p *pairs) able(space memory.Space) bool {
	return space == llm.SpaceOf(p.configured) || builtIn(space) != nil
}

// builtIn is the embedder of a space that needs no endpoint; nil: none does.
// Hashed vectors are those of folders that were begun before words had meanings:
// they serve until they are re-embedded.
func builtIn(space memory.Space) llm.Embedder {
	switch space {
	case memory.Space{Model: wordvec.Model, Dim: wordvec.Dim}:
		return wordvec.New()
	case memory.Space{Model: llm.HashedModel, Dim: llm.HashedDim}:
		return llm.Hashed(llm.HashedDim)
	}
	return nil
}

// embedder is the configured one, the built-in one, or the one that the
// settings of the previous model lead to: by default another model at the same
// endpoint.
func (p *pairs) embedder(ctx context.Context, space memory.Space) (llm.Embedder, error) {
	if space == llm.SpaceOf(p.configured) {
		return p.configured, nil
	}
	if e := builtIn(space); e != nil {
		return e, nil
	}
	e := p.cfg.Embedding
	e.Model, e.Dimension = space.Model, space.Dim // so that nothing is probed
	set := func(field *string, previous string) {
		if previous != "" {
			*field = previous
		}
	}
	set(&e.APIKey, e.Previous.APIKey)
	set(&e.BaseURL, e.Previous.BaseURL)
	set(&e.QueryPrefix, e.Previous.QueryPrefix)
	set(&e.DocumentPrefix, e.Previous.DocumentPrefix)
	if e.APIKey == "" || e.Previous.Model != "" && e.Previous.Model != space.Model {
		return unable{space}, nil
	}
	client, embedder, err := reachEmbedder(ctx, e, p.options)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clients = append(p.clients, client)
	return embedder, nil
}

func (p *pairs) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, client := range p.clients {
		client.Close()
	}
}

// unable stands for the embedder of a space that this server knows none for.
type unable struct{ space memory.Space }

func (u unable) Model() string { return u.space.Model }
func (u unable) Dim() int      { return u.space.Dim }

func (u unable) Embed(context.Context, llm.Use, []string) ([][]float32, error) {
	return nil, memory.Errorf(memory.KindUnavailable,
		"memories are served by the embedding model %s, which this server has no endpoint for: set embedding.previous.api_key, or wait until they are re-embedded", u.space.Model)
}

// How re-embedding is done.
const (
	lookEvery   = time.Second
	workLease   = 10 * time.Second
	workSlice   = time.Minute
	workPage    = 100
	workRest    = 100
	keepFormer  = 15 * time.Second
	awayBackoff = time.Second
	awayLimit   = time.Minute
)

// startReembedding has the configured embedder's space become the one that
// serves, and says so where that takes work.
func startReembedding(ctx context.Context, cfg config.Config, s *server, store *database, p *pairs, sw *reembed.Switch,
	push *projection.Projection, keep *projection.Upkeep, now func() time.Time, life *lifecycle, log *zap.Logger) (*reembed.Service, error) {
	log = log.Named("reembedding")
	service := reembed.New(reembed.Parts{
		Records: store, Switch: sw, Keep: keep, Lacking: push.Lacking, Open: p.open, Able: p.able,
		Ask: func(ctx context.Context) error {
			_, err := jobs.Ask(ctx, store, api.Reembedding, memory.Instant(now().Truncate(workLease)))
			return err
		},
		Now: now, Log: log,
	}, reembed.Settings{
		Look: lookEvery, Lease: workLease, Slice: workSlice, Page: workPage, Rest: workRest, Keep: keepFormer,
		Backoff: awayBackoff, BackoffLimit: awayLimit, Grace: cfg.Projection.Grace,
	})
	progress, err := service.Begin(ctx, llm.SpaceOf(p.configured))
	if err != nil {
		return nil, fmt.Errorf("see which embedding model serves: %w", err)
	}
	if progress.Serving != progress.Target {
		log.Info("memories are re-embedded; recall goes on with the model that serves",
			zap.String("from", progress.Serving.Model), zap.String("to", progress.Target.Model), zap.Int("memories", progress.Remaining))
		s.embedder += fmt.Sprintf("\n                %d memories are being re-embedded from %s, which serves until then",
			progress.Remaining, progress.Serving.Model)
	}
	life.run("reembedding", service.Run)
	return service, nil
}

// reembedding is the job, which is asked for when there is something to do.
func reembedding(cfg config.Schedule, service *reembed.Service) jobs.Maintenance {
	return upkeepOf(api.Reembedding, "", cfg.Timeout, service.Work)
}

// embeddingOf tells the API which models serve and are to.
func embeddingOf(service *reembed.Service) func() api.Embedding {
	return func() api.Embedding {
		p := service.Progress()
		return api.Embedding{Serving: p.Serving.Model, Target: p.Target.Model, Remaining: p.Remaining}
	}
}

// remaining shows how far re-embedding is.
func remaining(service *reembed.Service) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "hippocampus_reembedding_remaining",
		Help: "Active memories without an embedding by the model that is to serve.",
	}, func() float64 { return float64(service.Progress().Remaining) })
}
