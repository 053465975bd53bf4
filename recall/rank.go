package recall

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Decay is the freshness of a memory, rate^hours, with the hours since its last
// access. It lies in (0, 1], and is 1 for an access after now.
func Decay(rate float64, lastAccess, now time.Time) float64 {
	return math.Pow(rate, max(0, now.Sub(lastAccess).Hours()))
}

// Score combines the three parts, each 0..1:
//
//	modulated  S = relevance * (alpha + beta*decay + gamma*importance)
//	additive   S = alpha*relevance + beta*decay + gamma*importance
//
// Modulated never ranks a fresh or important memory that is irrelevant before a
// relevant one. Additive is the sum of the generative-agents paper (Park et al., 2023).
func Score(mode Mode, w Weights, relevance, decay, importance float64) float64 {
	if mode == Additive {
		return w.Relevance*relevance + w.Decay*decay + w.Importance*importance
	}
	return relevance * (w.Relevance + w.Decay*decay + w.Importance*importance)
}

// scored is a candidate with its score.
type scored struct {
	*relevant
	importance, decay, score float64 // the score has the lift of the update
	update                   update
}

// rank drops the candidates below MinSimilarity and MinConfidence and divides the others into
// contenders, in the probable order, and pruned ones, which cannot be among the
// first. hydrate determines the order by the rows in the database.
func (s *Service) rank(q Query, vector queryVector, x *index, list []relevant) (contenders, pruned []scored) {
	if q.MinSimilarity != 0 || q.MinConfidence != 0 {
		list = slices.DeleteFunc(list, func(r relevant) bool { return q.refusal(&r, vector.values != nil) != "" })
	}
	first, rest := prune(q, x, list)
	return s.estimate(q, x, first), s.estimate(q, x, rest)
}

// refusal returns why a query does not admit a candidate; "" if it does. Without the embedding of the query no
// candidate is compared.
func (q *Query) refusal(r *relevant, compared bool) Reason {
	switch {
	case compared && q.MinSimilarity != 0 && r.cosine < q.MinSimilarity:
		return TooDissimilar
	case q.MinConfidence != 0 && r.confidence < q.MinConfidence:
		return TooUnsure
	}
	return ""
}

// prune separates the candidates that can be among the first Limit from the rest. Only the database knows the last
// accesses, so a score has bounds: those for a decay of 0 and of 1. A candidate is pruned if the lower bounds of Limit
// others are above its upper bound.
func prune(q Query, x *index, list []relevant) (first, rest []relevant) {
	if len(list) <= q.Limit {
		return list, nil
	}
	bound := func(r *relevant, decay float64) float64 {
		importance, _ := r.limit(x.counted(r.doc, x.docs[r.doc].importance), time.Time{}, x.known)
		return Score(q.Mode, *q.Weights, r.relevance, decay, importance)
	}
	lower := make([]float64, len(list))
	for i := range list {
		lower[i] = bound(&list[i], 0)
	}
	slices.SortFunc(lower, func(a, b float64) int { return cmp.Compare(b, a) })
	n := 0
	for i := range list {
		if bound(&list[i], 1) >= lower[q.Limit-1] {
			list[n], list[i] = list[i], list[n]
			n++
		}
	}
	return list[:n], list[n:]
}

// inferredImportance is the most that the importance of an inferred memory counts. It is below that of a message of the
// user: of two memories that are as relevant, the one that was said is first.
const inferredImportance = 0.4

// counted returns the importance with which a document is ranked.
func (x *index) counted(doc int, importance float64) float64 {
	if x.kind(doc).Type.IsInferred() {
		return min(importance, inferredImportance)
	}
	return importance
}

// estimate orders candidates by the accesses that this process knows.
func (s *Service) estimate(q Query, x *index, list []relevant) []scored {
	ordered := make([]scored, len(list))
	for i := range list {
		importance, accessed := x.known(list[i].doc)
		importance, accessed = list[i].limit(x.counted(list[i].doc, importance), accessed, x.known)
		ordered[i] = s.score(q, &list[i], importance, accessed)
	}
	sortByScore(ordered)
	return ordered
}

func (s *Service) score(q Query, r *relevant, importance float64, accessed time.Time) scored {
	decay := 1.0
	if !r.undecayed {
		decay = Decay(q.DecayRate, accessed, q.At)
	}
	return scored{
		relevant: r, importance: importance, decay: decay,
		score: Score(q.Mode, *q.Weights, r.relevance, decay, importance),
	}
}

// sortByScore orders candidates, best first. Of equal scores, former statements come last; then the id decides.
func sortByScore(list []scored) {
	slices.SortFunc(list, func(a, b scored) int {
		if (a.former == nil) != (b.former == nil) && a.score == b.score {
			if a.former == nil {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id))
	})
}
