package recall

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/tracing"
	"hippocampus/vectorstore"
)

// Parts that an answer can do without.
const (
	partVectors  = "vector_store"
	partEmbedder = "embedder"
	partRouter   = "router" // a model
	partReranker = "reranker"
)

// hit is a memory that a search returned, before it is read back from the database.
type hit struct {
	id         string
	similarity float64
	source     sources
}

// searchResult is the outcome of a search.
type searchResult struct {
	index    *index
	postings postings // of the words and names of the queries
	scope    scope
	hits     [][]hit // of each query by similarity; a memory found in two ways is there twice, with one similarity
	degraded []string
}

// search finds the memories nearest to each of the queries that answer one query. Until it needs the index, it
// works while the index is being loaded.
func (s *Service) search(ctx context.Context, queries []subquery, vectors []queryVector, loading *loading) (
	searchResult, error) {
	early, searchErr := s.searchEarly(ctx, queries, vectors, loading.documents())
	if err := cmp.Or(loading.wait(), searchErr); err != nil {
		return searchResult{}, err
	}
	x, own := loading.index, loading.own
	result := searchResult{
		index: x, postings: loading.postings, scope: queries[0].scope(x), hits: make([][]hit, len(queries)),
	}
	if queries[0].Where != nil {
		result.scope.keepOnly(x, loading.matching)
	}
	if vectors[0].values == nil {
		result.degraded = []string{partEmbedder}
		return result, nil
	}
	s.embedOwnWrites(ctx, vectors[0].embedder, own)
	for i := range queries {
		q := queries[i].Query
		if vectors[i].values == nil {
			continue // by words alone
		}
		stored, degraded, err := s.searchStores(ctx, q, vectors[i], result, own, early[i])
		if err != nil {
			return searchResult{}, err
		}
		superseded, err := s.compareSuperseded(ctx, q, vectors[i], x)
		if err != nil {
			return searchResult{}, err
		}
		result.hits[i] = mergeOwnWrites(vectors[i], own, union(superseded, stored))
		if degraded != nil {
			result.degraded = degraded
		}
	}
	return result, nil
}

// storeHits is the answer of one store.
type storeHits struct {
	hits     []hit
	complete bool  // hits holds all memories of the owner
	full     bool  // hits holds as many as were asked for
	err      error // the vector store failed
}

// searchEarly searches for each query if that does not depend on the index; otherwise its hits are nil. The owner
// has about the given number of documents; 0: it is not known.
func (s *Service) searchEarly(ctx context.Context, queries []subquery, vectors []queryVector, documents int) (
	[]*storeHits, error) {
	early := make([]*storeHits, len(queries))
	if vectors[0].values == nil {
		return early, nil
	}
	if documents <= s.set.CompareLimit {
		hits, err := s.searchInDB(ctx, queries[0].Owner, vectors)
		if err != nil || hits != nil {
			for i := range hits {
				early[i] = &storeHits{hits: hits[i], complete: true}
			}
			return early, err
		}
	}
	if queries[0].beyondVectors() {
		return early, nil
	}
	var searches sync.WaitGroup
	for i := 1; i < len(queries) && vectors[i].values != nil; i++ {
		searches.Go(func() { early[i] = s.searchVectors(ctx, queries[i].Query, vectors[i]) })
	}
	early[0] = s.searchVectors(ctx, queries[0].Query, vectors[0])
	searches.Wait()
	return early, nil
}

// searchInDB compares the embeddings of an owner of at most CompareLimit
// memories in the database, and returns the hits for each vector. A search of a vector store in another process would
// return all of them also, and take longer. The result is nil if the owner has
// more memories or no memory, or if the vector store may be unavailable: then the vector store is searched, so that the
// answer reports whether it is unavailable.
func (s *Service) searchInDB(ctx context.Context, owner memory.Owner, vectors []queryVector) ([][]hit, error) {
	limit := s.set.CompareLimit
	if s.remote == nil || limit == 0 || !s.remote.Healthy() {
		return nil, nil
	}
	n, hits := 0, make([][]hit, len(vectors))
	model := vectors[0].embedder.Model()
	err := s.records.EachEmbedding(ctx, owner, model, limit+1, func(id string, embedding []float32) {
		n++
		for i := range vectors {
			if len(embedding) == len(vectors[i].values) {
				hits[i] = append(hits[i], hit{id, Cosine(vectors[i].values, embedding), fromVectors})
			}
		}
	})
	if err != nil || n == 0 || n > limit {
		return nil, err
	}
	return hits, nil
}

// hitsPerCandidate is the number of hits that a search asks for, for each hit that becomes a candidate. The further
// hits spare reads: memories that words find often are among them, so that their embeddings need not be read.
const hitsPerCandidate = 4

func (s *Service) searchVectors(ctx context.Context, q Query, vector queryVector) *storeHits {
	ctx, done := waitFor(ctx, partVectors, s.set.VectorTimeout)
	defer done()
	limit := q.Candidates * hitsPerCandidate
	if q.beyondVectors() {
		limit = max(limit, s.set.FallbackLimit)
	}
	near, err := s.vectors.Search(ctx, vectorstore.Query{
		Owner: q.Owner, Embedding: vector.values, Space: llm.SpaceOf(vector.embedder), Limit: limit, Domains: q.Domains,
		Types: q.Types, AgentID: q.AgentID, Since: q.Since, Until: roundUpToMillisecond(q.Until),
	})
	hits := make([]hit, len(near))
	for i, n := range near {
		hits[i] = hit{n.ID, round(n.Similarity), fromVectors}
	}
	return &storeHits{hits: hits, full: len(hits) == limit, err: err}
}

// roundUpToMillisecond returns the end of the millisecond of an instant: vector
// stores cannot divide a millisecond, the filter of the index does.
func roundUpToMillisecond(at time.Time) time.Time {
	if start := at.Truncate(time.Millisecond); start.Before(at) {
		return start.Add(time.Millisecond)
	}
	return at
}

var errLacksMemories = errors.New("the vector store does not show all memories that were pushed to it")

// searchStores returns the early hits, searches the vector store if there are
// no early hits, or compares the embeddings in the database: if few memories
// match filters that the vector store does not know, or if the vector store
// fails or lacks memories, which degrades the answer.
func (s *Service) searchStores(
	ctx context.Context, q Query, vector queryVector, r searchResult, own []memory.Memory, early *storeHits,
) (hits []hit, degraded []string, err error) {
	if early != nil && early.complete {
		return early.hits, nil, nil
	}
	if !q.beyondVectors() || len(r.scope.matching) > s.set.FallbackLimit {
		if early == nil {
			early = s.searchVectors(ctx, q, vector)
		}
		err := early.err
		if err == nil && s.lacksMemories(r, own, early) {
			err = errLacksMemories
		}
		if err == nil {
			return early.hits, nil, nil
		}
		compared, compareErr := s.compareNewest(ctx, q.Owner, vector, r)
		if compareErr != nil {
			return nil, nil, compareErr
		}
		if errors.Is(err, errLacksMemories) && len(own) < s.set.OwnLimit && onlyOwn(compared, own) {
			return early.hits, nil, nil // no other memory has an embedding
		}
		s.log.Warn("recall compares embeddings in the database: the vector store is unavailable",
			tracing.Log(ctx), zap.Error(err))
		return union(compared, early.hits), []string{partVectors}, nil
	}
	compared, err := s.compareNewest(ctx, q.Owner, vector, r)
	return compared, nil, err
}

// lacksMemories reports whether the vector store has lost memories, or may lack
// more than the own writes that were read: more writes wait than OwnLimit, or
// the hits are own writes only although other memories match and more hits were asked for. This is the case
// after a collection was dropped, until all memories have been pushed again.
func (s *Service) lacksMemories(r searchResult, own []memory.Memory, found *storeHits) bool {
	if len(own) == s.set.OwnLimit {
		return true
	}
	if found.full {
		return false
	}
	isOwn := make(map[int]bool, len(own)) // by place; also true if the vector store does not have it
	for doc := range r.index.superseded {
		isOwn[doc] = true
	}
	for i := range own {
		if doc, known := r.index.place(own[i].ID); known {
			isOwn[doc] = true
		}
	}
	for _, h := range found.hits {
		if doc, known := r.index.place(h.id); known && !isOwn[doc] {
			return false
		}
	}
	return slices.ContainsFunc(r.scope.matching, func(doc int) bool { return !isOwn[doc] })
}

// onlyOwn reports whether all hits are own writes.
func onlyOwn(hits []hit, own []memory.Memory) bool {
	return !slices.ContainsFunc(hits, func(h hit) bool {
		return !slices.ContainsFunc(own, func(m memory.Memory) bool { return m.ID == h.id })
	})
}

// compareNewest compares the embeddings of the newest matching memories, at
// most FallbackLimit of them, in the database.
func (s *Service) compareNewest(
	ctx context.Context, owner memory.Owner, vector queryVector, r searchResult,
) ([]hit, error) {
	docs, matching := r.index.docs, r.scope.matching
	if len(matching) > s.set.FallbackLimit {
		matching = slices.SortedFunc(slices.Values(matching), func(a, b int) int {
			return cmp.Or(cmp.Compare(docs[b].created, docs[a].created), r.index.compareIDs(a, b))
		})[:s.set.FallbackLimit]
	}
	ids := make([]string, len(matching))
	for i, doc := range matching {
		ids[i] = r.index.id(doc)
	}
	embeddings, err := s.records.Embeddings(ctx, owner, vector.embedder.Model(), ids)
	if err != nil {
		return nil, err
	}
	hits := make([]hit, 0, len(embeddings))
	for _, id := range ids {
		if v := embeddings[id]; len(v) == len(vector.values) {
			hits = append(hits, hit{id, Cosine(vector.values, v), fromVectors})
		}
	}
	return hits, nil
}

// union appends to a the hits of b whose memories are not in a.
func union(a, b []hit) []hit {
	inA := make(map[string]bool, len(a))
	for _, h := range a {
		inA[h.id] = true
	}
	return append(a, slices.DeleteFunc(b, func(h hit) bool { return inA[h.id] })...)
}

// maxEmbeddedWrites bounds how many own writes one recall embeds.
const maxEmbeddedWrites = 50

// embedOwnWrites embeds the own writes that only have an embedding of another model, as happens right after a change of
// the model. If it fails, they are found by words only.
func (s *Service) embedOwnWrites(ctx context.Context, embedder llm.Embedder, own []memory.Memory) {
	var places []int
	var texts []string
	for i := range own {
		if own[i].EmbeddingIn(llm.SpaceOf(embedder)) == nil && !own[i].WordsOnly() && len(texts) < maxEmbeddedWrites {
			places, texts = append(places, i), append(texts, own[i].EmbeddedText())
		}
	}
	if len(texts) == 0 {
		return
	}
	ctx, done := waitFor(ctx, partEmbedder, s.set.EmbedTimeout)
	defer done()
	vectors, err := llm.EmbedDocuments(ctx, embedder, texts)
	if err != nil {
		s.log.Warn("recall continues without the embeddings of some of the newest writes", tracing.Log(ctx), zap.Error(err))
		return
	}
	for i, place := range places {
		own[place].Embed(vectors[i], embedder.Model())
	}
}

// mergeOwnWrites returns own writes and stored hits, nearest first. The vector store may hold a former version of an
// own write, so the similarity from the database counts.
func mergeOwnWrites(vector queryVector, own []memory.Memory, stored []hit) []hit {
	current := map[string]float64{}
	hits := make([]hit, 0, len(own)+len(stored))
	for i := range own {
		if embedding := own[i].EmbeddingIn(llm.SpaceOf(vector.embedder)); embedding != nil {
			h := hit{own[i].ID, Cosine(vector.values, embedding), fromOwn}
			current[h.id] = h.similarity
			hits = append(hits, h)
		}
	}
	for _, h := range stored {
		if similarity, ok := current[h.id]; ok {
			h.similarity = similarity
		}
		hits = append(hits, h)
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.similarity, a.similarity), cmp.Compare(a.id, b.id))
	})
	return hits
}

// Cosine is the similarity of two unit vectors of the same length.
func Cosine(a, b []float32) float64 { return round(float64(memory.Dot(a, b))) }

// round cuts off the digits in which stores differ, since they sum the same
// products in different orders. Similarities that are equal in every store are
// then equal in the ranking, and ordered by id.
func round(similarity float64) float64 { return math.Round(similarity*1e5)/1e5 + 0 } // + 0 turns -0 into 0
