package recall

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// Fit states how well the memories of an owner fit a query at all. It is taken from the
// ten most relevant candidates, so that it does not depend on the limit of the query.
type Fit struct {
	Closeness    float64 // best similarity: 0 like unrelated texts, 1 like a question and its answer; may lie outside
	Coverage     float64 // best share of the query's words, by idf, in a memory and its neighbours, 0..1
	UnknownNames float64 // share of the query's names that no memory of the owner has, 0..1
	Memories     int     // active memories of the owner
}

// The coefficients of confidence come from a logistic regression that separates questions
// with an answer from questions about another user. `bench quality --confidence` asks the
// questions and `bench fit` repeats the regression; see docs/decisions/0023-confidence.md.
const (
	fitBias         = -2.3
	fitCloseness    = 1.5
	fitCoverage     = 3.3
	fitUnknownNames = -2.5
	fitMemories     = -0.4

	// Values midway between questions with an answer and other questions. They are used if a signal is missing.
	neutralCloseness = 0.9
	neutralCoverage  = 0.5

	// confidenceLoss is the share of the confidence that a memory without relevance loses.
	confidenceLoss = 0.2
)

// confidence is how sure it is that a memory of this relevance fits the query, 0..1:
//
//	fit        = 1 / (1 + exp(-(bias + a*closeness + b*coverage + c*unknownNames + d*ln(n/100))))
//	confidence = fit * (1 - 0.2*(1-relevance))
//
// n is the number of memories, within 10..1000: the more memories there are, the nearer to
// the query the best of them is by chance. The relevance counts little, since evidence
// often ranks high because of its neighbours alone.
//
// At 0.5 it is equally probable that the query has an answer and that it is about another
// user, if both kinds of query are equally frequent.
func (f Fit) confidence(relevance float64) float64 {
	n := float64(min(max(f.Memories, 10), 1000))
	logit := fitBias + fitCloseness*f.Closeness + fitCoverage*f.Coverage + fitUnknownNames*f.UnknownNames +
		fitMemories*math.Log(n/100)
	return (1 - confidenceLoss*(1-relevance)) / (1 + math.Exp(-logit))
}

// fittest is the number of candidates that Fit is taken from.
const fittest = 10

// fit measures how well the candidates fit the query.
func (s *Service) fit(q *subquery, vector queryVector, r searchResult, list []relevant) Fit {
	if len(list) == 0 {
		return Fit{}
	}
	best := slices.Clone(list)
	slices.SortFunc(best, func(a, b relevant) int {
		return cmp.Or(cmp.Compare(b.relevance, a.relevance), cmp.Compare(a.id, b.id))
	})
	best = best[:min(fittest, len(best))]
	if q.cues.namesNothing() {
		covered := 0.0
		for i := range best {
			covered = max(covered, q.cues.fits(r.index, &best[i]))
		}
		return Fit{Closeness: neutralCloseness, Coverage: covered, Memories: len(r.index.docs)}
	}
	worded := wordingOf(q, r)
	known := slices.Concat(idNames(q.Owner), worded.named)
	covered := coverage(r, known, q, best)
	return Fit{
		Closeness:    s.closeness(q.Query, vector, best, covered),
		Coverage:     covered,
		UnknownNames: unknownNames(r.postings, known, q.Text),
		Memories:     len(r.index.docs),
	}
}

// closeness is the best similarity on the scale of the embedding model, or is taken from the coverage if the model does
// not know the language of the query.
func (s *Service) closeness(q Query, vector queryVector, best []relevant, coverage float64) float64 {
	cosine, compared := -1.0, false
	for i := range best {
		if best[i].compared {
			cosine, compared = max(cosine, best[i].cosine), true
		}
	}
	if !compared || s.set.Calibration == nil {
		return neutralCloseness
	}
	calibration := s.set.Calibration(llm.SpaceOf(vector.embedder))
	if calibration == (memory.Calibration{}) {
		return neutralCloseness
	}
	if s.isByWords(q, vector) {
		return closenessOfWords(coverage)
	}
	if !isASCII(q.Text) && strings.ContainsFunc(q.Text, text.IsUnspaced) {
		return calibration.Chinese.Scale(cosine)
	}
	return calibration.English.Scale(cosine)
}

// coverage is the best share of the query's terms, each weighing its idf among the
// owner's memories, that one of the candidates and its open neighbours in the
// conversation have together. Known terms do not count, and a word that is compared by pairs of characters needs
// several of its pairs: see wordsInPairs.
func coverage(r searchResult, known []string, q *subquery, best []relevant) float64 {
	x := r.index
	windows := make([][]uint32, len(best))
	for i := range best {
		windows[i] = windowOf(r, best[i].doc)
	}
	words := wordsInPairs(q)
	scattered := make([]map[string]bool, len(best))
	for i, w := range windows {
		scattered[i] = words.scattered(func(term string) bool { return inWindow(r.postings[term], w) })
	}
	covered := make([]float64, len(best))
	total := 0.0
	for _, term := range q.terms {
		if slices.Contains(known, term) {
			continue
		}
		postings := r.postings[term]
		idf := idf(len(x.docs), len(postings))
		total += idf
		for i, w := range windows {
			if inWindow(postings, w) && !scattered[i][term] {
				covered[i] += idf
			}
		}
	}
	if total == 0 {
		return neutralCoverage
	}
	return slices.Max(covered) / total
}

// windowOf returns the places of a document and its open neighbours.
func windowOf(r searchResult, doc int) []uint32 {
	window := []uint32{uint32(doc)}
	for _, other := range r.index.neighbours(doc) {
		if other >= 0 && other != doc && r.scope.open[other] {
			window = append(window, uint32(other))
		}
	}
	return window
}

// inWindow reports whether one of the documents of a window is among the postings of a term.
func inWindow(postings []posting, window []uint32) bool {
	return slices.ContainsFunc(window, func(doc uint32) bool { return contains(postings, doc) })
}

func contains(postings []posting, doc uint32) bool {
	_, found := slices.BinarySearchFunc(postings, doc, func(p posting, doc uint32) int { return cmp.Compare(p.doc, doc) })
	return found
}
