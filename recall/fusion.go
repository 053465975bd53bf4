package recall

import "hippocampus/db"

// candidate is a memory on its way to a rank.
type candidate struct {
	id      string
	doc     int     // its place in the documents
	cosine  float64 // meaningful when compared
	bm25    float64
	sources []string

	compared  bool // cosine is known
	neighbour float64
	relevance float64
}

// fuse gives every candidate its relevance, 0..1:
//
//	x = (minmax(cosine) + bm25/max) / 2        over the candidates
//	x = x + lift*max(0, max(x of the previous and next) - x)
//	relevance = minmax(x)
//
// Previous and next are the neighbours in the same conversation, where they
// are candidates too: an answer often stands beside the words that the query
// shares. Where no candidate has a cosine, x is the lexical half alone.
func fuse(candidates []candidate, docs []db.Document, lift float64) {
	cosine, bm25 := span{}, 0.0
	for _, c := range candidates {
		if c.compared {
			cosine.add(c.cosine)
		}
		bm25 = max(bm25, c.bm25)
	}

	x := make([]float64, len(candidates))
	at := make(map[int]int, len(candidates)) // document -> candidate
	for i, c := range candidates {
		at[c.doc] = i
		if c.compared {
			x[i] += cosine.scale(c.cosine) / 2
		}
		if bm25 > 0 {
			x[i] += c.bm25 / bm25 / 2
		}
	}

	lifted := span{}
	for i := range candidates {
		c := &candidates[i]
		for _, d := range []int{c.doc - 1, c.doc + 1} {
			if j, ok := at[d]; ok && sameConversation(docs[c.doc], docs[d]) {
				c.neighbour = max(c.neighbour, lift*(x[j]-x[i]))
			}
		}
		c.relevance = x[i] + c.neighbour
		lifted.add(c.relevance)
	}
	for i := range candidates {
		candidates[i].relevance = lifted.scale(candidates[i].relevance)
	}
}

func sameConversation(a, b db.Document) bool {
	return a.ConversationID != "" && a.ConversationID == b.ConversationID
}

// span is the range of the values added to it.
type span struct {
	low, high float64
	any       bool
}

func (s *span) add(v float64) {
	if !s.any {
		s.low, s.high, s.any = v, v, true
	}
	s.low, s.high = min(s.low, v), max(s.high, v)
}

// scale maps v to 0..1 over the span. Where all values are equal there is
// nothing to compare: then it is 1 for a signal above 0, and 0 for none.
func (s *span) scale(v float64) float64 {
	switch {
	case s.high == s.low && v > 0:
		return 1
	case s.high == s.low:
		return 0
	}
	return (v - s.low) / (s.high - s.low)
}
