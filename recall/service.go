package recall

import (
	"cmp"
	"context"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/db/zones"
	"hippocampus/internal/cache"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/memory/filter"
	"hippocampus/internal/tracing"
	"hippocampus/router"
	"hippocampus/vectorstore"
)

// Records is the part of the database that recall reads.
type Records interface {
	Changes(ctx context.Context, owner memory.Owner, after int64, since time.Time, limit int) (db.Changes, error)
	Index(ctx context.Context, owner memory.Owner) (revision int64, data []byte, err error)
	ModeOf(ctx context.Context, owner memory.Owner, conversationID string) (memory.ModeSetting, error)
	CountActive(ctx context.Context, owner memory.Owner) (int, error)
	SaveIndex(ctx context.Context, owner memory.Owner, revision int64, data []byte) error
	MatchingIDs(ctx context.Context, owner memory.Owner, where *filter.Filter) ([]string, error)
	Recalled(ctx context.Context, owner memory.Owner, whole, rest []string) (db.Recalled, error)
	Embeddings(ctx context.Context, owner memory.Owner, model string, ids []string) (map[string][]float32, error)
	EachEmbedding(ctx context.Context, owner memory.Owner, model string, limit int,
		f func(id string, embedding []float32)) error
	// For queries about the past.
	ListMemories(ctx context.Context, f db.MemoryFilter) ([]memory.Memory, error)
	Sources(ctx context.Context, owner memory.Owner, ids []string) (map[string][]memory.Memory, error)
	// For queries of groups and of pools.
	OpenPooled(ctx context.Context, appID string, ids []string) (map[string]memory.Pooled, error)
	SharedAmong(ctx context.Context, owner memory.Owner, turnIDs []string) ([]string, error)
	FadedRecords
}

// Searcher is the part of the vector store that recall uses. It may also be a
// vectorstore.Remote.
type Searcher interface {
	Search(ctx context.Context, q vectorstore.Query) ([]vectorstore.Hit, error)
}

// Router names the domains of a query. It never fails and bounds its own time.
type Router interface {
	Route(ctx context.Context, query string) router.Route
}

// Settings are the tunable parts of recall; server/config states their
// defaults and ranges.
type Settings struct {
	Mode          Mode
	Weights       Weights
	DecayRate     float64 // decay of a memory after one hour without access
	Lift          Lift
	Cues          Cues
	BM25          BM25
	LexicalFloor  float64       // share of the query's idf that a full lexical match has at least
	Words         float64       // share of the lexical score in relevance, 0..1; the rest is similarity
	Contrast      float64       // exponent of relevance, more than 0
	Candidates    int           // taken from the hits, and from the lexical ranking
	OwnWindow     time.Duration // how long after its confirmation a write may be missing from searches
	OwnLimit      int           // own writes compared, newest first
	CompareLimit  int           // owners of at most this many memories are searched in the database; see searchInDB
	FallbackLimit int           // memories compared while the vector store is unavailable, newest first
	// Timeout bounds a whole recall. The others bound all searches and all embeddings of one request; see Within.
	Timeout, VectorTimeout, EmbedTimeout time.Duration

	Calibration func(memory.Space) memory.Calibration // what similarities mean; nil: it is not known
	Rerank      Rerank
	Recollector Recollector // nil: faded memories are not searched
	// OnStage is called at the end of each stage of a recall, perhaps by several goroutines. Nil: it is not called.
	OnStage func(ctx context.Context, stage string, took time.Duration)

	Zone   *time.Location // of users without ZoneOf; nil: UTC
	ZoneOf zones.Finder   // of the days of a user, and of the times that a query names, unless it has a zone; nil: Zone

	QueryCache int // bytes of query embeddings kept
	IndexCache int // bytes of indexes kept
}

// Service answers queries.
type Service struct {
	records  Records
	vectors  Searcher
	remote   vectorstore.Remote // vectors, if it is one; else nil
	router   Router
	embedder llm.Embedder
	touches  *Touches
	set      Settings
	now      func() time.Time
	log      *zap.Logger
	queries  *cache.Cache[[]float32]
	indexes  *indexes
	saves    chan saving
	growth   *growth
}

// New makes a service. touches may be shared; its owner runs it. Run stores indexes.
func New(records Records, vectors Searcher, r Router, embedder llm.Embedder, touches *Touches, set Settings,
	now func() time.Time, log *zap.Logger) *Service {
	remote, _ := vectors.(vectorstore.Remote)
	return &Service{
		records: records, vectors: vectors, remote: remote, router: r, embedder: embedder, touches: touches,
		set: set, now: now, log: log,
		queries: cache.New[[]float32](set.QueryCache), indexes: newIndexes(set.IndexCache),
		saves: make(chan saving, 16), growth: newGrowth(),
	}
}

// Recall answers a query. It fails only if the database is unavailable or slow
// (KindUnavailable); Degraded names any other part that is unavailable.
func (s *Service) Recall(ctx context.Context, q Query) (answer Answer, err error) {
	if q.Group != nil {
		return s.recallGroup(ctx, q)
	}
	if q.Pool {
		return s.recallWithPool(ctx, q)
	}
	ctx, whole := tracing.Start(ctx, "recall")
	defer func() { endSpan(whole, answer, err) }()
	ctx, cancel := Within(ctx, s.set.Timeout)
	defer cancel()
	if q.Memory, err = s.modeOf(ctx, q); err != nil {
		return Answer{}, err
	}
	if !q.Memory.Recalls() {
		return AnswerOff(cmp.Or(q.At, s.now()), q.Memory), nil
	}
	q, home, err := s.complete(ctx, q)
	if err != nil {
		return Answer{}, err
	}
	queries := divide(q)
	q.IncludeFormer, q.IncludeExpired = queries[0].IncludeFormer, queries[0].IncludeExpired
	about := userTermsOf(joined(queries))
	m := s.stages(q.Explain)
	defer m.endLatest()
	e := explainerOf(q, about, m)
	loading := s.startLoading(ctx, queries, home, m)
	route, vectors := s.routeAndEmbed(ctx, queries, m)
	var degraded []string
	if route.Degraded {
		degraded = []string{partRouter}
	}
	if q.isSmallTalk(route) {
		answer = Answer{
			Route: route, At: q.At, Skipped: true, Degraded: degraded, Asked: partsAsked(queries), When: timesAsked(queries),
		}
		err = cmp.Or(loading.wait(), s.explain(ctx, q, e, searchResult{}, &answer))
		answer.Memory = memory.Strictest(q.Memory, loading.mode)
		return answer, err
	}
	found, err := s.search(m.next(ctx, stageSearch), queries, vectors, loading)
	if err != nil {
		return Answer{}, err
	}
	if q.Memory = memory.Strictest(q.Memory, loading.mode); !q.Memory.Recalls() {
		return AnswerOff(q.At, q.Memory), nil
	}
	candidates, err := s.candidates(m.next(ctx, stageCandidates), queries, vectors, found)
	if err != nil {
		return Answer{}, err
	}
	m.next(ctx, stageFuse)
	relevant, fit := s.match(queries, vectors, found, candidates, route, e.onFold())
	late, err := s.rerank(m.next(ctx, stageRerank), queries, found.index, relevant)
	if err != nil {
		return Answer{}, err
	}
	if late {
		degraded = append(degraded, partReranker)
	}
	m.next(ctx, stageRank)
	e.rank(relevant)
	later := updatesFor(queries, found.index)
	contenders, pruned := s.rank(later.widen(q), vectors[0], found.index, relevant)
	repeated := repeatedIn(found.index, q)
	memories, err := s.hydrate(m.next(ctx, stageHydrate), q, about, later, repeated, contenders, pruned)
	if err != nil {
		return Answer{}, err
	}
	e.leaveOut(repeated)
	found.index.countRepeats(memories, found.scope.open)
	if s.shouldRecollect(q, memories) {
		recollected, err := s.recollect(m.next(ctx, stageRecollect), q, queries, vectors, found, memories)
		if err != nil {
			return Answer{}, err
		}
		memories = withRecollected(recollected, memories, q.Limit)
	}
	preferences, err := s.preferences(ctx, q, found, memories)
	if err != nil {
		return Answer{}, err
	}
	if !q.NoTouch {
		s.Touch(q.Owner, idsOf(memories), q.At)
	}
	answer = Answer{
		Memories: memories, Preferences: preferences, Memory: q.Memory, Route: route, Fit: fit,
		Degraded: append(found.degraded, degraded...), At: q.At, Asked: partsAsked(queries), When: timesAsked(queries),
	}
	err = s.explain(ctx, q, e, found, &answer)
	return answer, err
}

// modeOf is the mode of a query as far as it is known: the strictest of its own, the user's and that of the
// conversation whose memories it asks for. The last two are read before anything else, unless the query is about no
// conversation and the user's recalled at the last recall: then the recall reads it with the index.
func (s *Service) modeOf(ctx context.Context, q Query) (memory.ModeSetting, error) {
	x, ok := s.indexes.Get(indexKey(q.Owner))
	if !q.Memory.Recalls() || q.ConversationID == "" && ok && !x.off.Load() {
		return q.Memory, nil
	}
	chosen, err := s.records.ModeOf(ctx, q.Owner, q.ConversationID)
	return memory.Strictest(q.Memory, chosen), err
}

// AnswerOff is the answer to a query at an instant, while memory is off.
func AnswerOff(at time.Time, mode memory.ModeSetting) Answer {
	reason := "memory is off for the " + string(mode.Level) + ": nothing is recalled"
	route := router.Route{Source: "memory", Reason: reason}
	return Answer{Route: route, Skipped: true, At: at, Memory: mode}
}

// complete replaces the empty fields of a query that have a default. home is the zone of the user.
func (s *Service) complete(ctx context.Context, q Query) (_ Query, home *time.Location, err error) {
	if home, err = s.zoneOf(ctx, q.Owner); err != nil {
		return q, nil, err
	}
	if q.At.IsZero() {
		q.At = s.now()
	}
	if q.Mode == "" {
		q.Mode = s.set.Mode
	}
	if q.Weights == nil {
		q.Weights = &s.set.Weights
	}
	q.Zone = cmp.Or(q.Zone, home)
	q.DecayRate = cmp.Or(q.DecayRate, s.set.DecayRate)
	q.Candidates = cmp.Or(q.Candidates, s.set.Candidates)
	if after := q.AsOf.Add(time.Microsecond); !q.AsOf.IsZero() && (q.Until.IsZero() || after.Before(q.Until)) {
		q.Until = after
	}
	return q, home, nil
}

// zoneOf returns the zone in which the days of a user are.
func (s *Service) zoneOf(ctx context.Context, owner memory.Owner) (*time.Location, error) {
	if s.set.ZoneOf == nil {
		return cmp.Or(s.set.Zone, time.UTC), nil
	}
	return s.set.ZoneOf(ctx, owner)
}

// Touch counts an access of each of the owner's memories at an instant, off the request path.
// Callers that recall with NoTouch touch the memories that they use. An instant
// in the future, which the clock of a query may give, counts as now.
func (s *Service) Touch(owner memory.Owner, ids []string, at time.Time) {
	s.touches.Add(owner, ids, s.notAfterNow(at))
}

func (s *Service) notAfterNow(at time.Time) time.Time {
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

// Purge empties the caches of query embeddings and of indexes: both hold words
// of users.
func (s *Service) Purge() {
	s.queries.Purge()
	s.indexes.Purge()
}

// CacheStats returns the statistics of each cache by its name.
func (s *Service) CacheStats() map[string]cache.Stats {
	return map[string]cache.Stats{"query_embeddings": s.queries.Stats(), "user_indexes": s.indexes.Stats()}
}
