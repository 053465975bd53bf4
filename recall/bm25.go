package recall

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"hippocampus/db"
)

// BM25 is the lexical ranking of short texts (Robertson and Zaragoza, 2009):
//
//	sum over the query's terms of idf * tf*(K1+1) / (tf + K1*(1-B+B*len/avglen))
//	idf = ln(1 + (N-df+0.5)/(df+0.5))
//
// N, df and avglen are counted among the documents given, which are one
// user's: what is rare for others may be common for this one. It is computed
// here and not in the databases so that both give the same numbers.
type BM25 struct {
	K1 float64 // saturation of repeated terms
	B  float64 // weight of document length: 0 none, 1 full
}

// lexicalHit is a document by its place in the list, with a score above 0.
type lexicalHit struct {
	doc   int
	score float64
}

// rank scores every document that shares a term with the query, in list order.
func (p BM25) rank(terms []string, docs []db.Document) []lexicalHit {
	index := make(map[string]int, len(terms))
	for _, term := range terms {
		if _, seen := index[term]; !seen {
			index[term] = len(index)
		}
	}
	if len(index) == 0 || len(docs) == 0 {
		return nil
	}

	type match struct {
		doc, term int
		tf        float64
	}
	var matches []match
	lengths := make([]float64, len(docs))
	df := make([]float64, len(index))
	total := 0.0
	counts := make([]float64, len(index))
	for d := range docs {
		for lexeme := range strings.FieldsSeq(docs[d].Lexemes) {
			lengths[d]++
			if term, ok := index[lexeme]; ok {
				counts[term]++
			}
		}
		total += lengths[d]
		for term, tf := range counts {
			if tf > 0 {
				df[term]++
				matches = append(matches, match{d, term, tf})
				counts[term] = 0
			}
		}
	}

	n, average := float64(len(docs)), total/float64(len(docs))
	var hits []lexicalHit
	for _, m := range matches { // grouped by document, in order
		idf := math.Log(1 + (n-df[m.term]+0.5)/(df[m.term]+0.5))
		norm := p.K1 * (1 - p.B + p.B*lengths[m.doc]/average)
		score := idf * m.tf * (p.K1 + 1) / (m.tf + norm)
		if last := len(hits) - 1; last >= 0 && hits[last].doc == m.doc {
			hits[last].score += score
		} else {
			hits = append(hits, lexicalHit{m.doc, score})
		}
	}
	return hits
}

// best keeps the top n hits that allow lets through: best first, ties by id.
func best(hits []lexicalHit, docs []db.Document, n int, allow func(*db.Document) bool) []lexicalHit {
	kept := slices.DeleteFunc(slices.Clone(hits), func(h lexicalHit) bool { return !allow(&docs[h.doc]) })
	slices.SortFunc(kept, func(a, b lexicalHit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(docs[a.doc].ID, docs[b.doc].ID))
	})
	return kept[:min(n, len(kept))]
}
