package recall

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/cache"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/router"
	"hippocampus/vectorstore"
)

// Records is what recall reads of the database.
type Records interface {
	RevisionDocumentsAndUnconfirmed(ctx context.Context, owner memory.Owner, since time.Time, limit int) (db.OwnerDocuments, error)
	RevisionAndUnconfirmed(ctx context.Context, owner memory.Owner, since time.Time, limit int) (revision int64, own []memory.Memory, err error)
	Recalled(ctx context.Context, owner memory.Owner, whole, rest []string, since time.Time) (db.Recalled, error)
	Embeddings(ctx context.Context, owner memory.Owner, model string, ids []string) (map[string][]float32, error)
	EachEmbedding(ctx context.Context, owner memory.Owner, model string, limit int, f func(id string, embedding []float32)) error
}

// Searcher is what recall asks of the vector store, which may be a vectorstore.Remote.
type Searcher interface {
	Search(ctx context.Context, q vectorstore.Query) ([]vectorstore.Hit, error)
}

// Router names the domains of a query; it never fails and keeps its own time.
type Router interface {
	Route(ctx context.Context, query string) router.Route
}

// Settings are the tunable parts of the ranking; server/config states their
// defaults and ranges.
type Settings struct {
	Mode          Mode
	Weights       Weights
	DecayRate     float64 // a memory's freshness after one hour without access
	Lift          Lift
	Cues          Cues
	BM25          BM25
	LexicalFloor  float64       // share of a query's idf that a full lexical match has at least
	Words         float64       // share of words in relevance, 0..1; the rest is meaning
	Contrast      float64       // power of relevance, more than 0; 1: none
	Candidates    int           // taken from the vectors, and from the lexical ranking
	OwnWindow     time.Duration // how long after its confirmation a write may be missing from searches
	OwnLimit      int           // unconfirmed memories compared, newest first
	CompareLimit  int           // as many memories are compared in the database though the vector store is there; see compareFew
	FallbackLimit int           // memories compared while the vector store is away, newest first
	VectorTimeout time.Duration
	EmbedTimeout  time.Duration
	QueryCache    int // bytes of query embeddings kept
	IndexCache    int // bytes of users' indexes kept
}

// Service answers queries.
type Service struct {
	records  Records
	vectors  Searcher
	remote   vectorstore.Remote // vectors, where asking them takes a while; else nil
	router   Router
	embedder llm.Embedder
	touches  *Touches
	set      Settings
	now      func() time.Time
	log      *zap.Logger
	queries  *cache.Cache[[]float32]
	indexes  *cache.Cache[*index]
}

// New makes a service. touches may be shared; its owner runs it.
func New(records Records, vectors Searcher, r Router, embedder llm.Embedder, touches *Touches, set Settings, now func() time.Time, log *zap.Logger) *Service {
	remote, _ := vectors.(vectorstore.Remote)
	return &Service{
		records, vectors, remote, r, embedder, touches, set, now, log,
		cache.New[[]float32](set.QueryCache), cache.New[*index](set.IndexCache),
	}
}

// Recall answers a query. Only the database being away is an error
// (KindUnavailable); any other part that is away is named in Degraded.
func (s *Service) Recall(ctx context.Context, q Query) (Answer, error) {
	q = s.complete(q)
	seen, err := s.look(ctx, q)
	if err != nil {
		return Answer{}, err
	}
	if seen.smallTalk {
		return Answer{Route: seen.route, At: q.At, Skipped: true}, nil
	}
	answer, err := s.answer(ctx, q, seen)
	if errors.Is(err, errPresumed) {
		if seen, err = s.lookAgain(ctx, q, seen); err == nil {
			answer, err = s.answer(ctx, q, seen)
		}
	}
	if err != nil {
		return Answer{}, err
	}
	if !q.NoTouch {
		s.Touch(idsOf(answer.Memories), q.At)
	}
	return answer, nil
}

// answer ranks what was seen. errPresumed: what was presumed does not hold.
func (s *Service) answer(ctx context.Context, q Query, seen sight) (Answer, error) {
	domains, widened := s.domains(q, seen)
	found, degraded, err := s.gather(ctx, q, seen, domains)
	if err != nil {
		return Answer{}, err
	}
	fuse(found, seen.index, &s.set, wantedOf(q.Text))
	level(found, seen.index)
	memories, err := s.rank(ctx, q, seen, found)
	return Answer{Memories: memories, Route: seen.route, Widened: widened, Degraded: degraded, At: q.At}, err
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
	if _, allowed := q.open(seen.index, seen.route.Domains); len(allowed) < q.Limit {
		return nil, true
	}
	return seen.route.Domains, false
}

// Touch counts an access of memories at an instant, off the request path: it
// is for those who recall with NoTouch and decide later what they hand out.
// No access lies in the future, whatever clock a query was given.
func (s *Service) Touch(ids []string, at time.Time) { s.touches.Add(ids, s.past(at)) }

// past is an instant, or now where it lies in the future.
func (s *Service) past(at time.Time) time.Time {
	if now := s.now(); at.After(now) {
		return now
	}
	return at
}

func idsOf(recalled []Recalled) []string {
	ids := make([]string, len(recalled))
	for i, r := range recalled {
		ids[i] = r.Memory.ID
	}
	return ids
}
