package recall

import (
	"cmp"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"hippocampus/internal/lang/function"
	"hippocampus/internal/text"
)

// BM25 is the lexical ranking of short texts (Robertson and Zaragoza, 2009):
//
//	sum over the query's terms of idf * tf*(K1+1) / (tf + K1*(1-B+B*len/avglen))
//	idf = ln(1 + (N-df+0.5)/(df+0.5))
//
// N, df and avglen are counted among one owner's active memories: a term that is
// rare for one owner may be common for another. It is computed here and not in
// the databases, so that every database gives the same numbers.
type BM25 struct {
	K1 float64 // saturation of repeated terms
	B  float64 // weight of document length, 0..1
}

// posting is how often a document holds a lexeme.
type posting struct{ doc, count uint32 }

// postings are the documents that hold a lexeme, by lexeme, in the order of their places.
type postings map[string][]posting

// find returns the postings of lexemes. It reads all lexemes of the owner, which takes
// less time than the rest of a recall and needs no list for each lexeme.
func (x *index) find(wanted []string) postings {
	numbers := make(map[uint64]int, len(wanted)) // by hash
	lists := make([][]posting, len(wanted))
	var mayBeWanted [64]uint64 // a bit for each value of the last 12 bits of a hash
	for i, lexeme := range wanted {
		hash := xxhash.Sum64String(lexeme)
		numbers[hash] = i
		mayBeWanted[hash>>6&63] |= 1 << (hash & 63)
	}
	doc := 0
	for i, hash := range x.lexemes {
		if mayBeWanted[hash>>6&63]>>(hash&63)&1 == 0 {
			continue
		}
		number, found := numbers[hash]
		if !found {
			continue
		}
		for int(x.docs[doc].end) <= i {
			doc++
		}
		list := lists[number]
		if n := len(list); n > 0 && int(list[n-1].doc) == doc {
			list[n-1].count++
		} else {
			lists[number] = append(list, posting{doc: uint32(doc), count: 1})
		}
	}
	found := make(postings, len(wanted))
	for i, lexeme := range wanted {
		found[lexeme] = lists[i]
	}
	return found
}

// scores returns the scores of all documents by place, for distinct terms, and
// the sum of the terms' idf, including terms that no document holds.
func (p BM25) scores(terms []string, x *index, found postings) (scores []float64, totalIDF float64) {
	scores = make([]float64, len(x.docs))
	average := x.average()
	for _, term := range terms {
		postings := found[term]
		idf := idf(len(x.docs), len(postings))
		totalIDF += idf
		for _, posting := range postings {
			tf := float64(posting.count)
			norm := p.K1 * (1 - p.B + p.B*float64(x.docs[posting.doc].length)/average)
			scores[posting.doc] += idf * tf * (p.K1 + 1) / (tf + norm)
		}
	}
	return scores, totalIDF
}

// idf is the weight of a term that df of n documents hold.
func idf(n, df int) float64 { return math.Log(1 + (float64(n-df)+0.5)/(float64(df)+0.5)) }

// lexicalScores are how well each document matches the words of a query, by place.
type lexicalScores struct {
	bm25     []float64
	relative []float64 // 0..1, 0 for documents that are not open
}

// scoreWords scores the open documents:
//
//	relative = bm25 / max(best bm25 of them, floor * total idf)
//
// so that a best match that covers little of the query is not a full match.
func (s *Service) scoreWords(terms []string, x *index, found postings, open []bool) lexicalScores {
	bm25, totalIDF := s.set.BM25.scores(terms, x, found)
	full := s.set.LexicalFloor * totalIDF
	for doc, v := range bm25 {
		if open[doc] {
			full = max(full, v)
		}
	}
	scores := lexicalScores{bm25: bm25, relative: make([]float64, len(bm25))}
	for doc, v := range bm25 {
		if open[doc] && v > 0 {
			scores.relative[doc] = v / full
		}
	}
	return scores
}

// best returns the places of the n open documents with the highest relative
// score after lifting, best first, ties by id.
func (l lexicalScores) best(x *index, lift Lift, open []bool, n int) []int {
	type place struct {
		doc   int
		value float64
	}
	order := func(a, b place) int {
		return cmp.Or(cmp.Compare(b.value, a.value), x.compareIDs(a.doc, b.doc))
	}
	var places []place // the best so far; sorted and cut to n when it reaches 4n
	least := 0.0       // the score that a further place needs
	for doc := range x.docs {
		if !open[doc] {
			continue
		}
		v := l.relative[doc] + lift.of(x, doc, l.relative)
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

// queryTerms returns the distinct lexemes of a query, in order, without function words and single
// characters of a script that is matched in pairs.
func queryTerms(query string) []string {
	var terms []string
	for _, lexeme := range text.Lexemes(function.Without(query)) {
		if r, n := utf8.DecodeRuneInString(lexeme); n == len(lexeme) && text.IsPaired(r) {
			continue
		}
		if !slices.Contains(terms, lexeme) {
			terms = append(terms, lexeme)
		}
	}
	return terms
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
