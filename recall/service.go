package recall

import (
	"context"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
	"hippocampus/router"
	"hippocampus/vectorstore"
)

// Records is what recall reads of the database.
type Records interface {
	Documents(ctx context.Context, owner memory.Owner) ([]db.Document, error)
	Unconfirmed(ctx context.Context, owner memory.Owner, since time.Time, limit int) ([]memory.Memory, error)
	Hydrate(ctx context.Context, owner memory.Owner, ids, embedded []string) ([]memory.Memory, error)
	Embeddings(ctx context.Context, owner memory.Owner, model string, ids []string) (map[string][]float32, error)
}

// Searcher is what recall asks of the vector store.
type Searcher interface {
	Search(ctx context.Context, q vectorstore.Query) ([]vectorstore.Hit, error)
}

// Router names the domains of a query; it never fails and keeps its own time.
type Router interface {
	Route(ctx context.Context, query string) router.Route
}

// Settings are the tunable parts of the ranking; internal/config states their
// defaults and ranges.
type Settings struct {
	Mode          Mode
	Weights       Weights
	DecayRate     float64 // a memory's freshness after one hour without access
	NeighbourLift float64
	BM25          BM25
	Candidates    int           // taken from the vectors, and from the lexical ranking
	OwnWindow     time.Duration // how long after its confirmation a write may be missing from searches
	OwnLimit      int           // unconfirmed memories compared, newest first
	FallbackLimit int           // memories compared while the vector store is away, newest first
	VectorTimeout time.Duration
	EmbedTimeout  time.Duration
	CachedQueries int // query embeddings kept
}

// Service answers queries.
type Service struct {
	records  Records
	vectors  Searcher
	router   Router
	embedder llm.Embedder
	touches  *Touches
	set      Settings
	now      func() time.Time
	log      *zap.Logger
	queries  *lru.Cache[string, []float32]
}

// New makes a service. touches may be shared; its owner runs it.
func New(records Records, vectors Searcher, r Router, embedder llm.Embedder, touches *Touches, set Settings, now func() time.Time, log *zap.Logger) (*Service, error) {
	queries, err := lru.New[string, []float32](max(1, set.CachedQueries))
	if err != nil {
		return nil, err
	}
	return &Service{records, vectors, r, embedder, touches, set, now, log, queries}, nil
}

// Recall answers a query. Only the database being away is an error
// (KindUnavailable); any other part that is away is named in Degraded.
func (s *Service) Recall(ctx context.Context, q Query) (Answer, error) {
	q = s.complete(q)
	seen, err := s.look(ctx, q)
	if err != nil {
		return Answer{}, err
	}
	answer := Answer{Route: seen.route, At: q.At}
	if seen.smallTalk {
		answer.Skipped = true
		return answer, nil
	}
	domains, widened := s.domains(q, seen)
	found, degraded, err := s.gather(ctx, q, seen, domains)
	if err != nil {
		return Answer{}, err
	}
	answer.Widened, answer.Degraded = widened, degraded

	rows, found, err := s.hydrate(ctx, q, seen, found)
	if err != nil {
		return Answer{}, err
	}
	fuse(found, seen.docs, s.set.NeighbourLift)
	answer.Memories = s.rank(q, seen, found, rows)
	if !q.NoTouch {
		s.Touch(idsOf(answer.Memories), q.At)
	}
	return answer, nil
}

func (s *Service) complete(q Query) Query {
	if q.At.IsZero() {
		q.At = s.now()
	}
	if q.Mode == "" {
		q.Mode = s.set.Mode
	}
	if q.Weights == nil {
		q.Weights = &s.set.Weights
	}
	return q
}

// sight is what can be learnt of a query without one part waiting for another.
type sight struct {
	route     router.Route
	smallTalk bool         // nothing needs to be searched
	embedder  llm.Embedder // for this query, whichever serves when it ends
	vector    []float32    // nil: the embedder is away
	docs      []db.Document
	own       []memory.Memory
	lexical   []lexicalHit
	position  map[string]int // id -> place in docs
}

// look routes, embeds and reads in parallel. Small talk ends the embedding
// early; the reads of the database are short, and ending them would close
// their connections.
func (s *Service) look(ctx context.Context, q Query) (sight, error) {
	seen := sight{embedder: llm.Serving(s.embedder)}
	embedding, needless := context.WithCancel(ctx)
	defer needless()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		seen.route = s.route(ctx, q)
		if seen.smallTalk = len(q.Domains) == 0 && seen.route.SmallTalk(); seen.smallTalk {
			needless()
		}
		return nil
	})
	group.Go(func() error {
		seen.vector = s.embed(embedding, seen.embedder, q.Text)
		return nil
	})
	group.Go(func() (err error) {
		if seen.docs, err = s.records.Documents(ctx, q.Owner); err != nil {
			return err
		}
		seen.lexical = s.set.BM25.rank(text.Lexemes(q.Text), seen.docs)
		seen.position = make(map[string]int, len(seen.docs))
		for i := range seen.docs {
			seen.position[seen.docs[i].ID] = i
		}
		return nil
	})
	group.Go(func() (err error) {
		seen.own, err = s.records.Unconfirmed(ctx, q.Owner, s.now().Add(-s.set.OwnWindow), s.set.OwnLimit)
		return err
	})
	if err := group.Wait(); err != nil || seen.vector == nil || seen.smallTalk {
		return seen, err
	}
	s.reembed(embedding, seen)
	return seen, nil
}

func (s *Service) route(ctx context.Context, q Query) router.Route {
	switch {
	case len(q.Domains) > 0:
		return router.Route{Domains: q.Domains, Source: "request"}
	case q.NoRoute:
		return router.Route{Source: "off"}
	}
	return s.router.Route(ctx, q.Text)
}

// domains are the ones to search. A routed choice that leaves fewer memories
// than the limit is widened to all; a choice of the request's never is.
func (s *Service) domains(q Query, seen sight) (domains []memory.Domain, widened bool) {
	if len(q.Domains) > 0 || len(seen.route.Domains) == 0 {
		return q.Domains, false
	}
	if len(q.allowed(seen.docs, seen.route.Domains)) < q.Limit {
		return nil, true
	}
	return seen.route.Domains, false
}

// hydrate reads the candidates' rows, drops the ones that are no longer
// there, and compares those that only words had found.
func (s *Service) hydrate(ctx context.Context, q Query, seen sight, found []candidate) (map[string]memory.Memory, []candidate, error) {
	ids, embedded := make([]string, 0, len(found)), []string{}
	for _, c := range found {
		ids = append(ids, c.id)
		if !c.compared && seen.vector != nil {
			embedded = append(embedded, c.id)
		}
	}
	if len(ids) == 0 {
		return nil, nil, nil
	}
	memories, err := s.records.Hydrate(ctx, q.Owner, ids, embedded)
	if err != nil {
		return nil, nil, err
	}
	rows := make(map[string]memory.Memory, len(memories))
	for _, m := range memories {
		rows[m.ID] = m
	}
	kept := found[:0]
	for _, c := range found {
		m, ok := rows[c.id]
		if !ok {
			continue
		}
		if !c.compared && seen.vector != nil && seen.comparable(&m) {
			c.cosine, c.compared = Cosine(seen.vector, seen.embedding(&m)), true
		}
		kept = append(kept, c)
	}
	return rows, kept, nil
}

func (s *Service) rank(q Query, seen sight, found []candidate, rows map[string]memory.Memory) []Recalled {
	recalled := make([]Recalled, 0, len(found))
	for _, c := range found {
		if seen.vector != nil && q.MinSimilarity != 0 && c.cosine < q.MinSimilarity {
			continue
		}
		m := rows[c.id]
		m.Embedding, m.Beside, m.BesideModel = nil, nil, ""
		r := Recalled{
			Memory: m, Similarity: c.cosine, Lexical: c.bm25, Neighbour: c.neighbour, Relevance: c.relevance,
			Decay: Decay(s.set.DecayRate, m.LastAccessedAt, q.At), Importance: m.Importance, Sources: c.sources,
		}
		r.Score = Score(q.Mode, *q.Weights, r.Relevance, r.Decay, r.Importance)
		recalled = append(recalled, r)
	}
	sortByScore(recalled)
	return recalled[:min(q.Limit, len(recalled))]
}

// Touch counts an access of memories at an instant, off the request path: it
// is for those who recall with NoTouch and decide later what they hand out.
// No access lies in the future, whatever clock a query was given.
func (s *Service) Touch(ids []string, at time.Time) {
	if now := s.now(); at.After(now) {
		at = now
	}
	s.touches.Add(ids, at)
}

func idsOf(recalled []Recalled) []string {
	ids := make([]string, len(recalled))
	for i, r := range recalled {
		ids[i] = r.Memory.ID
	}
	return ids
}
