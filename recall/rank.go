package recall

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Decay is the freshness of a memory, rate^hours, with the hours since its
// last access; in (0, 1], and 1 for an access in the future of now.
func Decay(rate float64, lastAccess, now time.Time) float64 {
	return math.Pow(rate, max(0, now.Sub(lastAccess).Hours()))
}

// Score puts the three parts, each 0..1, together:
//
//	modulated  S = relevance * (alpha + beta*decay + gamma*importance)
//	additive   S = alpha*relevance + beta*decay + gamma*importance
//
// Modulated never lets a fresh or important memory pass a relevant one that it
// has nothing to do with; additive is the sum of the generative-agents paper
// (Park et al., 2023).
func Score(mode Mode, w Weights, relevance, decay, importance float64) float64 {
	if mode == Additive {
		return w.Relevance*relevance + w.Decay*decay + w.Importance*importance
	}
	return relevance * (w.Relevance + w.Decay*decay + w.Importance*importance)
}

// sortByScore orders best first, ties by id.
func sortByScore(list []standing) {
	slices.SortFunc(list, func(a, b standing) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id)) })
}
