package recall

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/tracing"
	"hippocampus/router"
)

// loading holds what a recall reads of an owner in the background.
type loading struct {
	cached *index       // left by an earlier recall, perhaps outdated; nil if there is no such index
	stored atomic.Int64 // documents of the stored index, as soon as it is read; 0 before, and without one
	done   chan struct{}

	// To be read when done is closed.
	index    *index
	postings postings           // of the words and names of the queries
	own      []memory.Memory    // writes that the vector store may not show yet
	mode     memory.ModeSetting // of the owner
	matching []string           // ids that the query's filter chooses; nil without a filter
	err      error
}

// startLoading loads an owner's index in the owner's zone, and applies the filter of the queries, in the
// background. Nothing cancels it but ctx: the reads are short, and cancelling one
// would close its connection.
func (s *Service) startLoading(
	ctx context.Context, queries []subquery, home *time.Location, m *stages,
) *loading {
	q := queries[0].Query
	cached, _ := s.indexes.Get(indexKey(q.Owner))
	if cached != nil && !cached.isIn(home) {
		cached = nil
	}
	l := &loading{cached: cached, done: make(chan struct{})}
	go func() {
		defer close(l.done)
		load := m.begin(ctx, stageLoad)
		defer load.end()
		ctx := load.ctx
		known := cached
		if known == nil {
			if known, l.err = s.cacheStored(ctx, q.Owner, home); l.err != nil {
				return
			}
			l.stored.Store(int64(len(known.docs)))
		}
		l.index, l.own, l.mode, l.err = s.loadIndex(ctx, q.Owner, known)
		if l.err == nil && q.WithoutTurn != "" {
			l.index = l.index.withoutTurn(q.WithoutTurn)
		}
		if l.err == nil && (q.IncludeFormer || !q.AsOf.IsZero()) {
			l.index, l.err = s.withPast(ctx, q, l.index)
		}
		if l.err == nil {
			l.index = l.index.lapsedAt(cmp.Or(q.AsOf, q.At))
		}
		if l.err == nil {
			l.postings = l.index.find(wantedLexemes(queries))
		}
		if l.err == nil && q.Where != nil {
			l.matching, l.err = s.records.MatchingIDs(ctx, q.Owner, q.Where)
			for _, m := range l.index.superseded {
				if q.Where.Matches(m) {
					l.matching = append(l.matching, m.ID)
				}
			}
		}
	}()
	return l
}

// wantedLexemes returns the lexemes of the words and names of queries.
func wantedLexemes(queries []subquery) (lexemes []string) {
	for i := range queries {
		lexemes = append(append(lexemes, queries[i].terms...), nameLexemes(queries[i].Text)...)
	}
	return lexemes
}

// documents is how many documents the owner had when they were last read; 0 if that is not known yet.
func (l *loading) documents() int {
	if l.cached != nil {
		return len(l.cached.docs)
	}
	return int(l.stored.Load())
}

// wait waits until everything is loaded.
func (l *loading) wait() error {
	<-l.done
	return l.err
}

// queryVector is the embedding of a query.
type queryVector struct {
	values   []float32    // nil if the embedder is unavailable
	embedder llm.Embedder // what this recall embeds with, also if another model begins to serve during it
}

// routeAndEmbed routes and embeds queries in parallel. Small talk needs no
// embedding and cancels it.
func (s *Service) routeAndEmbed(ctx context.Context, queries []subquery, m *stages) (router.Route, []queryVector) {
	embedder := llm.Serving(s.embedder)
	vectors := make([]queryVector, len(queries))
	var missing []int // places
	var texts []string
	for i := range queries {
		vectors[i].embedder = embedder
		if queries[i].wordsOnly {
			continue
		}
		if values, ok := s.queries.Get(queryKey(embedder, queries[i].Text)); ok && len(values) == embedder.Dim() {
			vectors[i].values = values
			continue
		}
		missing, texts = append(missing, i), append(texts, queries[i].Text)
	}
	if len(missing) == 0 {
		return s.route(ctx, queries, m), vectors
	}
	embedCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	routed := make(chan router.Route, 1)
	go func() {
		route := s.route(ctx, queries, m)
		if queries[0].isSmallTalk(route) {
			cancel()
		}
		routed <- route
	}()
	embedding := m.begin(embedCtx, stageEmbed)
	embedded := s.embed(embedding.ctx, embedder, texts)
	embedding.end()
	if embedded == nil { // unless each part of a prompt has similarities, no part is compared
		return <-routed, slices.Repeat([]queryVector{{embedder: embedder}}, len(queries))
	}
	for i, place := range missing {
		vectors[place].values = embedded[i]
	}
	return <-routed, vectors
}

func (s *Service) route(ctx context.Context, queries []subquery, m *stages) router.Route {
	routing := m.begin(ctx, stageRoute)
	defer routing.end()
	ctx = routing.ctx
	q := &queries[0].Query
	switch {
	case len(q.Domains) > 0:
		return router.Route{Domains: q.Domains, Source: "request"}
	case q.NoRoute:
		return router.Route{Source: "off"}
	}
	ctx, done := waitFor(ctx, partRouter, time.Hour) // the router bounds its own time
	defer done()
	return s.router.Route(ctx, joined(queries))
}

func (q *Query) isSmallTalk(route router.Route) bool { return len(q.Domains) == 0 && route.SmallTalk() }

// embed returns the embeddings of queries; nil if the embedder is unavailable.
func (s *Service) embed(ctx context.Context, embedder llm.Embedder, queries []string) [][]float32 {
	ctx, done := waitFor(ctx, partEmbedder, s.set.EmbedTimeout)
	defer done()
	vectors, err := embedder.Embed(ctx, llm.ForQuery, queries)
	if err != nil {
		if !errors.Is(err, context.Canceled) {
			s.log.Warn("recall continues without the embedding of the query", tracing.Log(ctx), zap.Error(err))
		}
		return nil
	}
	for i, query := range queries {
		s.queries.Add(queryKey(embedder, query), vectors[i], 4*len(vectors[i]))
	}
	return vectors
}

func queryKey(embedder llm.Embedder, query string) string { return embedder.Model() + "\x00" + query }
