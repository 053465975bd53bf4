package recall

import (
	"cmp"
	"math"
	"slices"
)

// BM25 is the lexical ranking of short texts (Robertson and Zaragoza, 2009):
//
//	sum over the query's terms of idf * tf*(K1+1) / (tf + K1*(1-B+B*len/avglen))
//	idf = ln(1 + (N-df+0.5)/(df+0.5))
//
// N, df and avglen are counted among one user's active memories: what is rare
// for others may be common for this one. It is computed here and not in the
// databases so that both give the same numbers.
type BM25 struct {
	K1 float64 // saturation of repeated terms
	B  float64 // weight of document length: 0 none, 1 full
}

// scores are those of all documents, by place, for distinct terms; whole is the
// sum of the terms' idf, also of those that no document holds.
func (p BM25) scores(terms []string, x *index) (scores []float64, whole float64) {
	scores = make([]float64, len(x.docs))
	n := float64(len(x.docs))
	var found []posting
	for _, term := range terms {
		found = x.of(term, found[:0])
		df := float64(len(found))
		idf := math.Log(1 + (n-df+0.5)/(df+0.5))
		whole += idf
		for _, f := range found {
			tf := float64(f.count)
			norm := p.K1 * (1 - p.B + p.B*float64(x.docs[f.doc].length)/x.average)
			scores[f.doc] += idf * tf * (p.K1 + 1) / (tf + norm)
		}
	}
	return scores, whole
}

// words is how well each document matches a query's words.
type words struct {
	bm25    []float64 // by place
	lexical []float64 // 0..1 by place, 0 for those that are filtered away
}

// words scores the open documents:
//
//	lexical = bm25 / max(best bm25 of them, floor * whole)
//
// so that a best match which covers little of the query is not a full one.
func (s *Service) words(terms []string, x *index, open []bool) words {
	bm25, whole := s.set.BM25.scores(terms, x)
	full := s.set.LexicalFloor * whole
	for doc, v := range bm25 {
		if open[doc] {
			full = max(full, v)
		}
	}
	w := words{bm25, make([]float64, len(bm25))}
	for doc, v := range bm25 {
		if open[doc] && v > 0 {
			w.lexical[doc] = v / full
		}
	}
	return w
}

// best are the n places of most words, each risen towards its neighbours: best
// first, ties by id.
func (w words) best(x *index, lift Lift, open []bool, n int) []int {
	type place struct {
		doc   int
		value float64
	}
	order := func(a, b place) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(x.docs[a.doc].ID, x.docs[b.doc].ID))
	}
	var places []place // the best so far, sorted and cut whenever there are many more than asked for
	least := 0.0       // what a further one must have
	for doc := range x.docs {
		if !open[doc] {
			continue
		}
		v := w.lexical[doc] + lift.rise(x, doc, w.lexical)
		if v <= 0 || v < least {
			continue
		}
		if places = append(places, place{doc, v}); len(places) >= 4*n {
			slices.SortFunc(places, order)
			places = places[:n]
			least = places[n-1].value
		}
	}
	slices.SortFunc(places, order)
	list := make([]int, 0, n)
	for _, p := range places[:min(n, len(places))] {
		list = append(list, p.doc)
	}
	return list
}
