package recall

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"go.uber.org/zap"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// Parts that an answer can do without.
const (
	partVectors  = "vector_store"
	partEmbedder = "embedder"
)

// gather unites the best by vector, own writes among them, and the best by words.
func (s *Service) gather(ctx context.Context, q Query, seen sight, domains []memory.Domain) (found []candidate, degraded []string, err error) {
	x := seen.index
	open, allowed := q.open(x, domains)
	hits, degraded, err := s.nearest(ctx, q, seen, domains, allowed)
	if err != nil {
		return nil, nil, err
	}
	q.admitSkills(x, domains, open)
	words := s.words(seen.terms, x, open)
	found = make([]candidate, 0, 2*s.set.Candidates)
	known := make([]sighting, len(x.docs)) // by place
	for _, h := range hits {
		doc, ours := x.place(h.id)
		if !ours || !open[doc] {
			continue
		}
		k := &known[doc]
		if !k.compared {
			k.similarity, k.compared = h.similarity, true
			if len(found) < s.set.Candidates {
				found = append(found, candidate{id: x.docs[doc].ID, doc: doc})
				k.candidate = len(found)
			}
		}
		if k.candidate > 0 {
			found[k.candidate-1].sources |= h.source
		}
	}
	for _, doc := range words.best(x, s.set.Lift, open, s.set.Candidates) {
		k := &known[doc]
		if k.candidate == 0 {
			found = append(found, candidate{id: x.docs[doc].ID, doc: doc})
			k.candidate = len(found)
		}
		found[k.candidate-1].sources |= fromWords
	}
	found = addProven(found, x, open)
	for i := range found {
		c := &found[i]
		c.bm25, c.lexical = words.bm25[c.doc], words.lexical[c.doc]
		c.cosine, c.compared = known[c.doc].similarity, known[c.doc].compared
	}
	return found, degraded, s.compareRest(ctx, q, seen, found)
}

// sighting is what gather has learnt of a document.
type sighting struct {
	similarity float64
	compared   bool
	candidate  int // its number among the candidates, from 1; 0: it is none
}

// compareRest compares those that only words had found, and that are further
// from the query than what the vector store was asked for.
func (s *Service) compareRest(ctx context.Context, q Query, seen sight, found []candidate) error {
	if seen.vector == nil {
		return nil
	}
	var ids []string
	for _, c := range found {
		if !c.compared {
			ids = append(ids, c.id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	embeddings, err := s.records.Embeddings(ctx, q.Owner, seen.embedder.Model(), ids)
	if err != nil {
		return err
	}
	for i := range found {
		if v := embeddings[found[i].id]; !found[i].compared && len(v) == len(seen.vector) {
			found[i].cosine, found[i].compared = Cosine(seen.vector, v), true
		}
	}
	return nil
}

type near struct {
	id         string
	similarity float64
	source     sources
}

// nearest returns memories by similarity, best first; a memory found in two
// ways stands twice. The vector store answers for what it has confirmed; what
// it may not show yet, cannot filter, or cannot answer for at all is compared
// in the database's embeddings. Where both know a memory the database is
// right: the vector store may still hold it as it was before a change. A vector
// store that lacks memories is as good as away.
func (s *Service) nearest(ctx context.Context, q Query, seen sight, domains []memory.Domain, allowed []int) (hits []near, degraded []string, err error) {
	if seen.vector == nil {
		return nil, []string{partEmbedder}, nil
	}
	own := map[string]float64{}
	hits = make([]near, 0, len(seen.own)+len(seen.stored))
	for _, m := range seen.own {
		if seen.comparable(&m) {
			own[m.ID] = Cosine(seen.vector, seen.embedding(&m))
			hits = append(hits, near{m.ID, own[m.ID], fromOwn})
		}
	}
	stored, whole := seen.stored, seen.compared
	if !whole && (!q.beyondVectors() || len(allowed) > s.set.FallbackLimit) {
		if err = seen.refused; !seen.searched {
			stored, err = s.search(ctx, q, seen.embedder, seen.vector, domains)
		}
		if err == nil && s.lacking(seen, allowed, stored) {
			err = errLacking
		}
		if err != nil && seen.presumed {
			return nil, nil, errPresumed
		}
		if whole = err == nil; !whole {
			s.log.Warn("recall compares in the database: the vector store is away", zap.Error(err))
			degraded = []string{partVectors}
		}
	}
	if !whole {
		compared, err := s.compare(ctx, q, seen, allowed)
		if err != nil {
			return nil, nil, err
		}
		stored = united(compared, stored)
	}
	for _, h := range stored {
		if similarity, ok := own[h.id]; ok {
			h.similarity = similarity
		}
		hits = append(hits, h)
	}
	slices.SortStableFunc(hits, func(a, b near) int {
		return cmp.Or(cmp.Compare(b.similarity, a.similarity), cmp.Compare(a.id, b.id))
	})
	return hits, degraded, nil
}

var errLacking = errors.New("it does not show what has been pushed to it, and is being filled again")

// lacking reports whether the vector store has lost memories, or may lack more
// than own writes make up for: it shows none but these although there are
// others, or more of them wait than were read. A collection that was dropped
// is so until everything has been pushed again.
func (s *Service) lacking(seen sight, allowed []int, stored []near) bool {
	if len(seen.own) == s.set.OwnLimit {
		return true
	}
	own := make(map[string]bool, len(seen.own))
	for i := range seen.own {
		own[seen.own[i].ID] = true
	}
	for _, h := range stored {
		if _, known := seen.index.place(h.id); known && !own[h.id] {
			return false
		}
	}
	return slices.ContainsFunc(allowed, func(doc int) bool { return !own[seen.index.docs[doc].ID] })
}

// united are both lists, without what the second repeats.
func united(a, b []near) []near {
	held := make(map[string]bool, len(a))
	for _, h := range a {
		held[h.id] = true
	}
	for _, h := range b {
		if !held[h.id] {
			a = append(a, h)
		}
	}
	return a
}

// wholeMillisecond is the end of the millisecond that an instant falls into, which
// stores of vectors cannot cut: the index does.
func wholeMillisecond(until time.Time) time.Time {
	if begun := until.Truncate(time.Millisecond); begun.Before(until) {
		return begun.Add(time.Millisecond)
	}
	return until
}

// depth is how many hits are asked for, for each that becomes a candidate: the
// others spare reading the embeddings of what only words find.
const depth = 4

// breadth is how many hits a search asks for.
func (s *Service) breadth(q Query) int {
	if q.beyondVectors() {
		return max(s.set.Candidates*depth, s.set.FallbackLimit)
	}
	return s.set.Candidates * depth
}

func (s *Service) search(ctx context.Context, q Query, by llm.Embedder, vector []float32, domains []memory.Domain) ([]near, error) {
	ctx, cancel := context.WithTimeout(ctx, s.set.VectorTimeout)
	defer cancel()
	hits, err := s.vectors.Search(ctx, vectorstore.Query{
		Owner: q.Owner, Embedding: vector, Space: llm.SpaceOf(by), Limit: s.breadth(q), Domains: domains,
		Types: q.Types, AgentID: q.AgentID, Since: q.Since, Until: wholeMillisecond(q.Until),
	})
	found := make([]near, len(hits))
	for i, h := range hits {
		found[i] = near{h.ID, steady(h.Similarity), fromVectors}
	}
	return found, err
}

// compare reads the embeddings of the newest allowed memories.
func (s *Service) compare(ctx context.Context, q Query, seen sight, allowed []int) ([]near, error) {
	docs := seen.index.docs
	if len(allowed) > s.set.FallbackLimit {
		slices.SortFunc(allowed, func(a, b int) int {
			return cmp.Or(cmp.Compare(docs[b].created, docs[a].created), cmp.Compare(docs[a].ID, docs[b].ID))
		})
	}
	ids := make([]string, 0, min(len(allowed), s.set.FallbackLimit))
	for _, doc := range allowed[:cap(ids)] {
		ids = append(ids, docs[doc].ID)
	}
	embeddings, err := s.records.Embeddings(ctx, q.Owner, seen.embedder.Model(), ids)
	if err != nil {
		return nil, err
	}
	found := make([]near, 0, len(embeddings))
	for _, id := range ids {
		if v := embeddings[id]; len(v) == len(seen.vector) {
			found = append(found, near{id, Cosine(seen.vector, v), fromVectors})
		}
	}
	return found, nil
}

// Cosine is the similarity of two unit vectors of the same length.
func Cosine(a, b []float32) float64 { return steady(float64(memory.Dot(a, b))) }

// steady cuts off the digits in which stores differ: they add up the same
// products in different orders. What is equal in all stores is then equal in
// the ranking, and ordered by id.
func steady(similarity float64) float64 { return math.Round(similarity*1e6)/1e6 + 0 } // + 0: never -0
