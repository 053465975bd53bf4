package recall

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// index is what recall knows of one user's active memories at one revision:
// everything that does not change with a recall. It is read by many queries at
// once and, but for accesses and held, never written after it is made.
type index struct {
	revision int64
	held     atomic.Bool // at the last query, which met no own writes either

	docs []document
	tags [][]string // the lists of tags that there are, each once
	byID []uint32   // places, in the order of ids

	// The inverted list: the postings of terms[i] end at ends[i]. Terms stand
	// as 64-bit hashes, in order.
	terms    []uint64
	ends     []uint32
	postings []byte  // see appendPosting
	average  float64 // lexemes in a document
}

// document is a memory as the ranking sees it, in the order of its conversation.
type document struct {
	ID string
	*traits
	Importance float64
	created    int64 // Unix microseconds

	tags     uint32 // the place of its list of tags
	from, to int32  // the places of its conversation, [from, to); without one its own
	length   float32
	cues     cues

	accessed atomic.Int64 // Unix microseconds; see lastAccess
}

// traits are what many documents share.
type traits struct {
	Domain         memory.Domain
	Type           memory.Type
	AgentID        string
	ConversationID string
}

// CreatedAt is when the memory was made.
func (d *document) CreatedAt() time.Time { return time.UnixMicro(d.created).UTC() }

// lastAccess is the latest access that this process has seen. There may be a
// later one, which the database knows.
func (d *document) lastAccess() time.Time { return time.UnixMicro(d.accessed.Load()).UTC() }

// access notes an access. One of two at once may be lost.
func (d *document) access(at time.Time) {
	if at := at.UnixMicro(); at > d.accessed.Load() {
		d.accessed.Store(at)
	}
}

// seed is this process' own: hashes are never stored.
var seed = maphash.MakeSeed()

// indexOf builds the index of documents in the order of db.Memories.Documents.
func indexOf(docs []db.Document) *index {
	x := &index{docs: make([]document, len(docs)), byID: make([]uint32, len(docs))}
	var tokens []token
	ordinals := map[uint64]uint32{} // of terms, as they come
	lists := map[string]uint32{}    // places of lists of tags
	same := map[traits]*traits{}    // and speakers: one copy of what repeats
	speakers := map[string]string{}
	ids := joined(docs)
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
		found.speaker = intern(speakers, found.speaker)
		shared := traits{d.Domain, d.Type, d.AgentID, d.ConversationID}
		if same[shared] == nil {
			first := shared
			same[shared] = &first
		}
		x.docs[i] = document{
			ID: ids[:len(d.ID)], traits: same[shared], tags: x.listOf(lists, d.Tags),
			Importance: d.Importance, created: d.CreatedAt.UnixMicro(), length: float32(len(tokens) - before), cues: found,
		}
		ids = ids[len(d.ID):]
		x.docs[i].access(d.LastAccessedAt)
		x.byID[i] = uint32(i)
	}
	slices.SortFunc(x.byID, func(a, b uint32) int { return cmp.Compare(x.docs[a].ID, x.docs[b].ID) })
	x.findConversations()
	x.average = float64(len(tokens)) / float64(max(1, len(docs)))
	x.invert(tokens, ordinals)
	return x
}

// joined are all ids in one string, of which each document has its part.
func joined(docs []db.Document) string {
	var ids strings.Builder
	for i := range docs {
		ids.WriteString(docs[i].ID)
	}
	return ids.String()
}

// token is one lexeme of a document.
type token struct{ term, doc uint32 }

// posting says how often a document has a term.
type posting struct{ doc, count uint32 }

// invert makes the inverted list of tokens in the order of their documents.
func (x *index) invert(tokens []token, ordinals map[uint64]uint32) {
	x.terms = slices.Sorted(maps.Keys(ordinals))
	place := make([]uint32, len(ordinals)) // ordinal -> place among the terms
	for i, hash := range x.terms {
		place[ordinals[hash]] = uint32(i)
	}
	starts := make([]uint32, len(x.terms)+1) // of each term's tokens, when sorted
	for _, t := range tokens {
		starts[place[t.term]+1]++
	}
	for p := range x.terms {
		starts[p+1] += starts[p]
	}
	sorted, next := make([]uint32, len(tokens)), slices.Clone(starts) // documents by term
	for _, t := range tokens {
		p := place[t.term]
		sorted[next[p]] = t.doc
		next[p]++
	}
	x.ends = make([]uint32, len(x.terms))
	list := make([]byte, 0, 2*len(tokens))
	for p := range x.terms {
		before := uint32(0)
		for docs := sorted[starts[p]:starts[p+1]]; len(docs) > 0; {
			count := 1
			for count < len(docs) && docs[count] == docs[0] {
				count++
			}
			list = appendPosting(list, before, posting{docs[0], uint32(count)})
			before, docs = docs[0], docs[count:]
		}
		x.ends[p] = uint32(len(list))
	}
	x.postings = slices.Clone(list)
}

// appendPosting writes how far the document is from the one before and whether
// the count is 1, as one number; then the count, if it is not. Most take a byte.
func appendPosting(list []byte, before uint32, p posting) []byte {
	far := uint64(p.doc-before) << 1
	if p.count == 1 {
		return binary.AppendUvarint(list, far|1)
	}
	return binary.AppendUvarint(binary.AppendUvarint(list, far), uint64(p.count))
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

// of appends to a list the documents that hold a lexeme, in their order.
func (x *index) of(lexeme string, found []posting) []posting {
	i, known := slices.BinarySearch(x.terms, maphash.String(seed, lexeme))
	if !known {
		return found
	}
	start := uint32(0)
	if i > 0 {
		start = x.ends[i-1]
	}
	doc := uint32(0)
	for list := x.postings[start:x.ends[i]]; len(list) > 0; {
		far, n := binary.Uvarint(list)
		list = list[n:]
		count := uint64(1)
		if far&1 == 0 {
			count, n = binary.Uvarint(list)
			list = list[n:]
		}
		doc += uint32(far >> 1)
		found = append(found, posting{doc, uint32(count)})
	}
	return found
}

// size is about how many bytes the index holds.
func (x *index) size() int {
	const perDocument, perTerm = 150, 12 // of the structs and the ids
	return perDocument*len(x.docs) + perTerm*len(x.terms) + len(x.postings)
}
