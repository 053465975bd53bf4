package recall

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"hippocampus/internal/lang/asked"
	"hippocampus/internal/lang/times"
	"hippocampus/internal/memory"
	"hippocampus/recall/prompt"
	"hippocampus/router"
)

// subquery is one of the queries that answer a query.
type subquery struct {
	Query
	terms     []string // see queryTerms
	cues      queryCues
	wordsOnly bool            // it is matched by words alone
	reference asked.Reference // unless it is NoReference, the queries are a follow-up with Previous, and by itself
}

// divide returns the queries that answer a query: itself or, for a prompt, its parts and then its outline. The part of
// a query that refers to what was said before it is both together, and its outline is the query itself. The queries
// differ in their texts only. If the question is about the past, all of them include former statements. A long outline
// is matched by its words alone, since its embedding would blur all that it mentions.
func divide(q Query) []subquery {
	texts, reference := []string{q.Text}, asked.NoReference
	if parts := prompt.Parts(q.Text); len(parts) > 0 {
		texts = slices.Concat(parts, []string{prompt.Outline(q.Text)})
	} else if reference = q.reference(); reference != asked.NoReference {
		texts = []string{memory.Clip(q.Previous, mostPrevious) + " " + q.Text, q.Text}
	}
	queries := make([]subquery, len(texts))
	for i, text := range texts {
		isOutline := i > 0 && i == len(texts)-1
		queries[i].reference = reference
		queries[i].Query = q
		queries[i].Text, queries[i].terms = text, queryTerms(text)
		if isOutline && utf8.RuneCountInString(text) > prompt.Longest {
			queries[i].wordsOnly = true
			queries[i].cues = cuesWithoutTimes(text) // pasted text names many times
		} else {
			queries[i].cues = queryCuesOf(text, q.At.In(q.Zone))
		}
		q.IncludeFormer = q.IncludeFormer || !isOutline && queries[i].cues.asksForPast(q.At)
		q.IncludeExpired = q.IncludeExpired || !isOutline && queries[i].cues.asksForWhatHappened()
	}
	for i := range queries {
		queries[i].IncludeFormer, queries[i].IncludeExpired = q.IncludeFormer, q.IncludeExpired
	}
	return queries
}

// partsAsked returns the parts of a prompt; nil for a query that is not divided.
func partsAsked(queries []subquery) (texts []string) {
	for i := range len(queries) - 1 {
		texts = append(texts, queries[i].Text)
	}
	return texts
}

// timesAsked returns the times that queries name, each once.
func timesAsked(queries []subquery) (list []times.Span) {
	for i := range queries {
		for _, asked := range queries[i].cues.dates {
			if !slices.Contains(list, asked.Span) {
				list = append(list, asked.Span)
			}
		}
	}
	return list
}

// joined is a query, or the parts of a prompt, for models that take one text.
func joined(queries []subquery) string {
	if parts := partsAsked(queries); parts != nil {
		return strings.Join(parts, "\n")
	}
	return queries[0].Text
}

// match is what one query found.
type match struct {
	list []relevant // a fact and its message are two items
	fit  Fit
	cues queryCues
}

// confidence is how sure it is that a memory of the match fits the query. If the query names nothing but times, or asks
// for all that is still to be done, the memory fits as well as it fits that.
func (m *match) confidence(r *relevant, x *index) float64 {
	fit := m.fit
	if m.cues.namesNothing() {
		fit.Coverage = m.cues.fits(x, r)
	}
	return fit.confidence(r.relevance)
}

// match computes the relevance and the confidence of the candidates. The candidates of several queries become one list.
func (s *Service) match(queries []subquery, vectors []queryVector, found searchResult, candidates [][]candidate,
	route router.Route, onFold func(dropped relevant, by string)) ([]relevant, Fit) {
	x, past := found.index, queries[0].IncludeFormer
	matches := make([]match, len(queries))
	for i, q := range queries {
		matches[i].cues = q.cues
		matches[i].list = fuse(candidates[i], x, s.settingsFor(q.Query, vectors[i]), q.cues, q.liftedBy(route))
		if len(queries) > 1 {
			matches[i].fit = s.fit(&q, vectors[i], found, unite(slices.Clone(matches[i].list), x, past, nil))
		}
	}
	if len(queries) > 1 {
		if share, isFollowUp := ownShares[queries[0].reference]; isFollowUp {
			matches[0].addOwn(matches[1], share, s.set.Contrast)
		}
		list, fit := mergeMatches(matches, x, s.set.Contrast)
		return unite(list, x, past, onFold), fit
	}
	list := unite(matches[0].list, x, past, onFold)
	only := &matches[0]
	only.fit = s.fit(&queries[0], vectors[0], found, list)
	for i := range list {
		list[i].confidence = only.confidence(&list[i], x)
	}
	return list, only.fit
}

// outlineShare is the weight of a whole prompt, since most of it may have been pasted. A part has the weight 1.
const outlineShare = 0.5

// mergeMatches unites the matches of the parts of a prompt and, at the end, of its outline. Each memory keeps its best
// match. Relevance is relative to the best memory of its part, so that each part counts as much as it fits:
//
//	weight     = confidence(part), half of it for the outline
//	relevance  = max over the parts of relevance * (weight / max(weight))^contrast
//	confidence = max over the parts
//
// It returns the fit of the part with the highest weight.
func mergeMatches(matches []match, x *index, contrast float64) (list []relevant, fit Fit) {
	weights, best := make([]float64, len(matches)), 0.0
	for i, m := range matches {
		if len(m.list) > 0 {
			weights[i] = m.fit.confidence(1)
		}
		if i == len(matches)-1 {
			weights[i] *= outlineShare
		}
		if weights[i] > best {
			best, fit = weights[i], m.fit
		}
	}
	places := map[int]int{} // in list, by document
	for i, m := range matches {
		weight := math.Pow(weights[i]/best, contrast)
		for _, r := range m.list {
			r.confidence = m.confidence(&r, x)
			r.relevance *= weight
			r.fused *= weight
			place, known := places[r.doc]
			if !known {
				places[r.doc] = len(list)
				list = append(list, r)
				continue
			}
			other := &list[place]
			r.sources |= other.sources
			r.confidence = max(r.confidence, other.confidence)
			if r.relevance < other.relevance {
				other.sources, other.confidence = r.sources, r.confidence
			} else {
				*other = r
			}
		}
	}
	return list, fit
}
