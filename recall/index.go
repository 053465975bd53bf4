package recall

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"

	"hippocampus/db"
)

// index is what recall knows of one user's active memories at one revision:
// everything that does not change with a recall. It is read by many queries at
// once and never written after it is made.
type index struct {
	revision int64

	docs     []document
	position map[string]int // id -> place in docs

	// The inverted list: the postings of terms[i] end at ends[i]. Terms stand
	// as 64-bit hashes, in order.
	terms    []uint64
	ends     []uint32
	postings []posting
	average  float64 // lexemes in a document
}

// document is a memory as the ranking sees it, in the order of its conversation.
type document struct {
	db.Document // without lexemes and content
	length      float64
	cues        cues
}

type posting struct{ doc, count uint32 }

// seed is this process' own: hashes are never stored.
var seed = maphash.MakeSeed()

// indexOf builds the index of documents in the order of db.Memories.Documents.
func indexOf(docs []db.Document) *index {
	x := &index{docs: make([]document, len(docs)), position: make(map[string]int, len(docs))}
	type token struct {
		term uint64
		doc  uint32
	}
	var tokens []token
	same := map[string]string{} // conversations and agents repeat: one copy of each
	for i, d := range docs {
		before := len(tokens)
		for lexeme := range strings.FieldsSeq(d.Lexemes) {
			tokens = append(tokens, token{maphash.String(seed, lexeme), uint32(i)})
		}
		found := cuesOf(d.Content)
		d.Lexemes, d.Content = "", ""
		d.ConversationID, d.AgentID = intern(same, d.ConversationID), intern(same, d.AgentID)
		found.speaker = intern(same, found.speaker)
		x.docs[i] = document{Document: d, length: float64(len(tokens) - before), cues: found}
		x.position[d.ID] = i
	}
	x.average = float64(len(tokens)) / float64(max(1, len(docs)))
	slices.SortFunc(tokens, func(a, b token) int { return cmp.Or(cmp.Compare(a.term, b.term), cmp.Compare(a.doc, b.doc)) })
	for i, t := range tokens {
		switch {
		case i == 0 || t.term != tokens[i-1].term:
			x.terms, x.ends = append(x.terms, t.term), append(x.ends, 0)
			x.postings = append(x.postings, posting{t.doc, 1})
		case t.doc != tokens[i-1].doc:
			x.postings = append(x.postings, posting{t.doc, 1})
		default:
			x.postings[len(x.postings)-1].count++
		}
		x.ends[len(x.ends)-1] = uint32(len(x.postings))
	}
	x.terms, x.ends, x.postings = slices.Clip(x.terms), slices.Clip(x.ends), slices.Clip(x.postings)
	return x
}

func intern(same map[string]string, s string) string {
	if one, ok := same[s]; ok {
		return one
	}
	s = strings.Clone(s)
	same[s] = s
	return s
}

// of are the documents that hold a lexeme, in their order.
func (x *index) of(lexeme string) []posting {
	i, found := slices.BinarySearch(x.terms, maphash.String(seed, lexeme))
	if !found {
		return nil
	}
	start := uint32(0)
	if i > 0 {
		start = x.ends[i-1]
	}
	return x.postings[start:x.ends[i]]
}

// size is about how many bytes the index holds.
func (x *index) size() int {
	const perDocument, perTerm, perPosting = 330, 12, 8 // of the structs, the ids and the map
	return perDocument*len(x.docs) + perTerm*len(x.terms) + perPosting*len(x.postings)
}

// neighbours calls f with the places that stand at a distance from a document
// in its conversation, before and after it.
func (x *index) neighbours(doc, distance int, f func(int)) {
	for _, d := range [2]int{doc - distance, doc + distance} {
		if d >= 0 && d < len(x.docs) && x.docs[doc].ConversationID != "" && x.docs[d].ConversationID == x.docs[doc].ConversationID {
			f(d)
		}
	}
}
