package recall

import (
	"cmp"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// index is what recall knows of one user's active memories at one revision:
// everything that does not change with a recall. It is read by many queries at
// once and never written after it is made.
type index struct {
	revision int64

	docs []document
	byID []uint32 // places, in the order of ids

	// The inverted list: the postings of terms[i] end at ends[i]. Terms stand
	// as 64-bit hashes, in order.
	terms    []uint64
	ends     []uint32
	postings []posting
	average  float64 // lexemes in a document
}

// document is a memory as the ranking sees it, in the order of its conversation.
type document struct {
	ID             string
	Domain         memory.Domain
	Type           memory.Type
	AgentID        string
	ConversationID string
	Importance     float64
	CreatedAt      time.Time

	from, to int32 // the places of its conversation, [from, to); without one its own
	length   float32
	cues     cues
}

type posting struct{ doc, count uint32 }

// seed is this process' own: hashes are never stored.
var seed = maphash.MakeSeed()

// indexOf builds the index of documents in the order of db.Memories.Documents.
func indexOf(docs []db.Document) *index {
	x := &index{docs: make([]document, len(docs)), byID: make([]uint32, len(docs))}
	var tokens []token
	ordinals := map[uint64]uint32{} // of terms, as they come
	same := map[string]string{}     // what repeats: one copy of each
	for i, d := range docs {
		before := len(tokens)
		for lexeme := range strings.FieldsSeq(d.Lexemes) {
			hash := maphash.String(seed, lexeme)
			term, known := ordinals[hash]
			if !known {
				term = uint32(len(ordinals))
				ordinals[hash] = term
			}
			tokens = append(tokens, token{term, uint32(i)})
		}
		found := cuesOf(d.Content)
		found.speaker = intern(same, found.speaker)
		x.docs[i] = document{
			ID: d.ID, Domain: memory.Domain(intern(same, string(d.Domain))), Type: memory.Type(intern(same, string(d.Type))),
			AgentID: intern(same, d.AgentID), ConversationID: intern(same, d.ConversationID),
			Importance: d.Importance, CreatedAt: d.CreatedAt, length: float32(len(tokens) - before), cues: found,
		}
		x.byID[i] = uint32(i)
	}
	slices.SortFunc(x.byID, func(a, b uint32) int { return cmp.Compare(x.docs[a].ID, x.docs[b].ID) })
	x.findConversations()
	x.average = float64(len(tokens)) / float64(max(1, len(docs)))
	x.invert(tokens, ordinals)
	return x
}

// token is one lexeme of a document.
type token struct{ term, doc uint32 }

// invert makes the inverted list of tokens in the order of their documents.
func (x *index) invert(tokens []token, ordinals map[uint64]uint32) {
	x.terms = slices.Sorted(maps.Keys(ordinals))
	place := make([]uint32, len(ordinals)) // ordinal -> place among the terms
	for i, hash := range x.terms {
		place[ordinals[hash]] = uint32(i)
	}
	// last is the document that each term was seen in last, and 1: 0 is none.
	last := make([]uint32, len(x.terms))
	x.ends = make([]uint32, len(x.terms))
	for _, t := range tokens {
		if p := place[t.term]; last[p] != t.doc+1 {
			last[p] = t.doc + 1
			x.ends[p]++
		}
	}
	total := uint32(0)
	next := make([]uint32, len(x.terms)) // where each term's postings go on
	for p, n := range x.ends {
		next[p] = total
		total += n
		x.ends[p], last[p] = total, 0
	}
	x.postings = make([]posting, total)
	for _, t := range tokens {
		p := place[t.term]
		if last[p] != t.doc+1 {
			last[p] = t.doc + 1
			x.postings[next[p]] = posting{doc: t.doc}
			next[p]++
		}
		x.postings[next[p]-1].count++
	}
}

// findConversations notes where each document's conversation begins and ends.
func (x *index) findConversations() {
	for from := 0; from < len(x.docs); {
		to := from + 1
		for id := x.docs[from].ConversationID; id != "" && to < len(x.docs) && x.docs[to].ConversationID == id; {
			to++
		}
		for i := from; i < to; i++ {
			x.docs[i].from, x.docs[i].to = int32(from), int32(to)
		}
		from = to
	}
}

func intern(same map[string]string, s string) string {
	if one, ok := same[s]; ok {
		return one
	}
	s = strings.Clone(s)
	same[s] = s
	return s
}

// place is where a memory stands among the documents.
func (x *index) place(id string) (doc int, known bool) {
	i, known := slices.BinarySearchFunc(x.byID, id, func(doc uint32, id string) int { return cmp.Compare(x.docs[doc].ID, id) })
	if !known {
		return 0, false
	}
	return int(x.byID[i]), true
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
	const perDocument, perTerm, perPosting = 220, 12, 8 // of the structs and the ids
	return perDocument*len(x.docs) + perTerm*len(x.terms) + perPosting*len(x.postings)
}
