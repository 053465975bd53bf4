package recall

import (
	"context"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"hippocampus/db"
	"hippocampus/internal/cache"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/router"
	"hippocampus/vectorstore"
)

// Records is what recall reads of the database.
type Records interface {
	Documents(ctx context.Context, owner memory.Owner) ([]db.Document, error)
	Glance(ctx context.Context, owner memory.Owner, since time.Time, limit int) (revision int64, own []memory.Memory, err error)
	Recalled(ctx context.Context, owner memory.Owner, whole, rest []string) ([]memory.Memory, map[string]time.Time, error)
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
	Lift          Lift
	Cues          Cues
	BM25          BM25
	LexicalFloor  float64       // share of a query's idf that a full lexical match has at least
	Words         float64       // share of words in relevance, 0..1; the rest is meaning
	Contrast      float64       // power of relevance, more than 0; 1: none
	Candidates    int           // taken from the vectors, and from the lexical ranking
	OwnWindow     time.Duration // how long after its confirmation a write may be missing from searches
	OwnLimit      int           // unconfirmed memories compared, newest first
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
	return &Service{
		records, vectors, r, embedder, touches, set, now, log,
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

	fuse(found, seen.index, &s.set, wantedOf(q.Text))
	level(found, seen.index)
	if answer.Memories, err = s.rank(ctx, q, seen, found); err != nil {
		return Answer{}, err
	}
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
	index     *index
	own       []memory.Memory
	terms     []string

	searched bool // the vector store has answered, so or so
	stored   []near
	refused  error
}

// look routes, embeds and reads in parallel, and searches where the index has
// no say in which domains. Small talk ends the embedding early; the reads of
// the database are short, and ending them would close their connections.
func (s *Service) look(ctx context.Context, q Query) (sight, error) {
	seen := sight{embedder: llm.Serving(s.embedder)}
	embedding, needless := context.WithCancel(ctx)
	defer needless()
	routed := make(chan struct{})
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(routed)
		seen.route = s.route(ctx, q)
		if seen.smallTalk = len(q.Domains) == 0 && seen.route.SmallTalk(); seen.smallTalk {
			needless()
		}
		return nil
	})
	group.Go(func() error {
		seen.vector = s.embed(embedding, seen.embedder, q.Text)
		<-routed
		widens := len(q.Domains) == 0 && len(seen.route.Domains) > 0
		if seen.vector != nil && !seen.smallTalk && !widens && !q.beyondVectors() {
			seen.searched = true
			seen.stored, seen.refused = s.search(ctx, q, seen.embedder, seen.vector, q.Domains)
		}
		return nil
	})
	group.Go(func() (err error) {
		seen.terms = terms(q.Text)
		seen.index, seen.own, err = s.known(ctx, q.Owner)
		return err
	})
	if err := group.Wait(); err != nil || seen.vector == nil || seen.smallTalk {
		return seen, err
	}
	s.reembed(embedding, seen)
	return seen, nil
}

// known is what is known of an owner's memories: the index of this moment's
// revision, kept from an earlier query or made anew, and the newest writes.
func (s *Service) known(ctx context.Context, owner memory.Owner) (*index, []memory.Memory, error) {
	since := s.now().Add(-s.set.OwnWindow)
	revision, own, err := s.records.Glance(ctx, owner, since, s.set.OwnLimit)
	if err != nil {
		return nil, nil, err
	}
	key := owner.AppID + "\x00" + owner.UserID
	if x, ok := s.indexes.Get(key); ok && x.revision == revision {
		return x, own, nil
	}
	docs, err := s.records.Documents(ctx, owner)
	if err != nil {
		return nil, nil, err
	}
	x := indexOf(docs)
	x.revision = revision // or a later one: then it is made once more
	s.indexes.Add(key, x, x.size())
	// What was written since the first glance is in the index: it must be among
	// the newest writes, too.
	_, own, err = s.records.Glance(ctx, owner, since, s.set.OwnLimit)
	return x, own, err
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
