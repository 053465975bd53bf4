package recall

import (
	"context"
	"slices"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/tracing"
)

// Recollection of what has faded:
//
//	an answer without confidence -> words of the faded memories -> those that have the query's words
//	      -> rows, filters, embeddings of the database -> confidence -> the best, active again
//
// A memory is faded if the rule of retention forgot it and no request has forgotten it since. Its words and its
// embedding are in the database until it is purged; the vector store does not have it.

// FadedRecords is the part of the database that recollection reads; see db.Faded.
type FadedRecords interface {
	FadedWords(ctx context.Context, owner memory.Owner, limit int) ([]db.FadedWords, error)
	Recollectable(ctx context.Context, owner memory.Owner, ids []string) ([]memory.Memory, error)
}

// Recollector makes faded memories active again.
type Recollector interface {
	// Recollect makes faded memories of the owner active, and returns those that are active then. Memories that were
	// purged, or forgotten by a request, since they were read are not among them.
	Recollect(ctx context.Context, owner memory.Owner, faded []memory.Memory) ([]memory.Memory, error)
}

// Bounds of recollection.
const (
	// sure is the confidence of the best memory of an answer below which the faded memories are searched.
	sure = 0.8
	// leastConfidence is the confidence that a faded memory needs. At it, the query is as probably answered by the memory
	// as about another user. The memory also needs moreConfidence than the best memory of the answer.
	leastConfidence = 0.5
	moreConfidence  = 0.05
	// mostFaded is the most faded memories that are searched: the ones accessed last.
	mostFaded = 2_000
	// mostRecollected is how many memories one recall recollects.
	mostRecollected = 3
	// fadedPage is how many faded memories are read at a time.
	fadedPage = 20
)

// shouldRecollect reports whether the faded memories are searched for a query whose answer has these memories.
func (s *Service) shouldRecollect(q Query, answered []Recalled) bool {
	if s.set.Recollector == nil || q.NoRecollection || !q.AsOf.IsZero() {
		return false
	}
	return !slices.ContainsFunc(answered, func(r Recalled) bool { return r.Confidence >= sure })
}

// recollect returns the faded memories that answer a query, best first, and makes them active again unless
// the query counts no access.
func (s *Service) recollect(
	ctx context.Context, q Query, queries []subquery, vectors []queryVector, found searchResult, answered []Recalled,
) ([]Recalled, error) {
	words, err := s.fadedOf(ctx, q.Owner, found.index.origin())
	if err != nil || len(words.ids) == 0 {
		return nil, err
	}
	least := max(leastConfidence, q.MinConfidence)
	for _, r := range answered {
		least = max(least, r.Confidence+moreConfidence)
	}
	var recollected []Recalled
	for i := range queries {
		sub := &queries[i]
		if sub.wordsOnly { // the outline of a prompt
			continue
		}
		hits, err := s.recollectFor(ctx, *sub, vectors[i], found, words, least)
		if err != nil {
			return nil, err
		}
		for _, hit := range hits {
			if !slices.ContainsFunc(recollected, func(r Recalled) bool { return r.Memory.ID == hit.Memory.ID }) {
				recollected = append(recollected, hit)
			}
		}
	}
	recollected = recollected[:min(len(recollected), mostRecollected, q.Limit)]
	if q.NoTouch {
		return recollected, nil
	}
	return s.Recollect(ctx, q.Owner, recollected), nil
}

// Recollect makes the memories active again that a recall has recollected. It returns all memories but those that were
// forgotten by a request, or purged, in the meantime. Callers that recall with NoTouch pass the memories that they use.
// If the database fails, the memories stay faded and are returned as they are.
func (s *Service) Recollect(ctx context.Context, owner memory.Owner, memories []Recalled) []Recalled {
	var faded []memory.Memory
	for _, r := range memories {
		if r.Recollected {
			faded = append(faded, r.Memory)
		}
	}
	if len(faded) == 0 {
		return memories
	}
	active, err := s.set.Recollector.Recollect(ctx, owner, faded)
	if err != nil {
		s.log.Warn("recollected memories stay faded", tracing.Log(ctx), zap.String("app", owner.AppID), zap.Error(err))
		return memories
	}
	left := make([]Recalled, 0, len(memories))
	for _, r := range memories {
		i := slices.IndexFunc(active, func(m memory.Memory) bool { return m.ID == r.Memory.ID })
		switch {
		case i >= 0:
			r.Memory = active[i]
			left = append(left, r)
		case !r.Recollected:
			left = append(left, r)
		}
	}
	return left
}

// withRecollected puts recollected memories before the others of an answer, which have less confidence.
func withRecollected(recollected, others []Recalled, limit int) []Recalled {
	if len(recollected) == 0 {
		return others
	}
	all := slices.Concat(recollected, others)
	return all[:min(limit, len(all))]
}
