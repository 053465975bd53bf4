package recall

import (
	"cmp"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// index holds what recall needs of an owner's active memories at one revision.
// Many queries read it at once; only the access times change after it is built.
type index struct {
	revision int64

	docs     []document
	byID     []uint32   // places of the documents in the order of their ids
	tagLists [][]string // the distinct lists of tags
	speakers []string   // the distinct speakers

	// What was said in which order. All are nil if no document was taken from a message:
	// then the sequence is that of the documents.
	taken     []taking // by document
	sequence  []uint32 // places of the documents that were not taken from messages
	positions []uint32 // in sequence, by document; a fact has the position of its first message

	// The inverted list: postings[starts[i]:starts[i+1]] are the places of the
	// documents that hold the lexeme with the hash terms[i], one for each time.
	terms    []uint64
	starts   []uint32
	postings []uint32
	average  float64 // lexemes in a document
}

// document is what the index holds of a memory. Documents are in the order of
// db.Memories.Documents: those of a conversation follow one another.
type document struct {
	id string
	*traits
	importance float64
	question   float64 // share of its text that consists of questions, 0..1
	created    int64   // Unix microseconds
	accessed   atomic.Int64
	tags       uint32 // place of its list in tagLists
	speaker    uint32 // place in speakers
	length     float32
	timed      bool // its text states a time
}

// taking links a document to a message that it was taken from; both are places.
type taking struct{ doc, message uint32 }

// traits are what many documents share.
type traits struct {
	Domain         memory.Domain
	Type           memory.Type
	AgentID        string
	ConversationID string
}

func (d *document) createdAt() time.Time { return time.UnixMicro(d.created).UTC() }

// lastAccess is the latest access that this process has seen. The database may
// know a later one.
func (d *document) lastAccess() time.Time { return time.UnixMicro(d.accessed.Load()).UTC() }

// access records an access. One of two concurrent accesses may be lost.
func (d *document) access(at time.Time) {
	if at := at.UnixMicro(); at > d.accessed.Load() {
		d.accessed.Store(at)
	}
}

// seed of the hashes, which are never stored.
var seed = maphash.MakeSeed()

// newIndex builds the index of documents in the order of db.Memories.Documents.
func newIndex(revision int64, docs []db.Document) *index {
	x := &index{revision: revision, docs: make([]document, len(docs)), byID: make([]uint32, len(docs))}
	var tokens []token
	ordinals := map[uint64]uint32{} // of terms, in the order of their first token
	tagLists := map[string]uint32{} // places by the joined tags
	speakers := map[string]uint32{} // places
	shared := map[traits]*traits{}
	ids := joinIDs(docs)
	for i, d := range docs {
		before := len(tokens)
		for lexeme := range strings.FieldsSeq(d.Lexemes) {
			hash := maphash.String(seed, lexeme)
			term, known := ordinals[hash]
			if !known {
				term = uint32(len(ordinals))
				ordinals[hash] = term
			}
			tokens = append(tokens, token{term: term, doc: uint32(i)})
		}
		t := traits{Domain: d.Domain, Type: d.Type, AgentID: d.AgentID, ConversationID: d.ConversationID}
		if shared[t] == nil {
			shared[t] = &t
		}
		c := cuesOf(d.Content)
		if d.Type == memory.TypeMessage {
			c.speaker = strings.ToLower(d.Speaker)
		}
		x.docs[i] = document{
			id: ids[:len(d.ID)], traits: shared[t], importance: d.Importance, question: c.question,
			created: d.CreatedAt.UnixMicro(), length: float32(len(tokens) - before), timed: c.timed,
			tags:    intern(tagLists, &x.tagLists, strings.Join(d.Tags, "\x00"), d.Tags), // no tag holds a NUL
			speaker: intern(speakers, &x.speakers, c.speaker, strings.Clone(c.speaker)),
		}
		ids = ids[len(d.ID):]
		x.docs[i].access(d.LastAccessedAt)
		x.byID[i] = uint32(i)
	}
	slices.SortFunc(x.byID, func(a, b uint32) int { return cmp.Compare(x.docs[a].id, x.docs[b].id) })
	x.linkMessages(docs)
	x.average = float64(len(tokens)) / float64(max(1, len(docs)))
	x.invert(tokens, ordinals)
	return x
}

// linkMessages notes which documents were taken from which messages, and the sequence of
// what was said. A fact stands where its first message does, so that it separates no neighbours.
func (x *index) linkMessages(docs []db.Document) {
	for i := range docs {
		for _, id := range docs[i].DerivedFrom {
			if doc, known := x.place(id); known && x.docs[doc].Type == memory.TypeMessage {
				x.taken = append(x.taken, taking{doc: uint32(i), message: uint32(doc)})
			}
		}
	}
	if len(x.taken) == 0 {
		return
	}
	x.positions = make([]uint32, len(docs))
	for i := range docs {
		if len(x.messagesOf(i)) == 0 {
			x.positions[i] = uint32(len(x.sequence))
			x.sequence = append(x.sequence, uint32(i))
		}
	}
	for i := range docs {
		if taken := x.messagesOf(i); len(taken) > 0 {
			x.positions[i] = x.positions[taken[0].message]
		}
	}
}

// messagesOf returns the links of a document to the messages that it was taken from.
func (x *index) messagesOf(doc int) []taking {
	first, _ := slices.BinarySearchFunc(x.taken, doc, func(t taking, doc int) int { return cmp.Compare(int(t.doc), doc) })
	end := first
	for end < len(x.taken) && int(x.taken[end].doc) == doc {
		end++
	}
	return x.taken[first:end]
}

// joinIDs puts all ids into one string, which takes less memory than one each.
func joinIDs(docs []db.Document) string {
	var ids strings.Builder
	for i := range docs {
		ids.WriteString(docs[i].ID)
	}
	return ids.String()
}

// intern returns the place of a value in the list of distinct values, to which
// it appends the value if its key is new.
func intern[V any](places map[string]uint32, list *[]V, key string, value V) uint32 {
	place, known := places[key]
	if !known {
		place = uint32(len(*list))
		places[key], *list = place, append(*list, value)
	}
	return place
}

// token is one lexeme of a document.
type token struct{ term, doc uint32 }

// invert builds the inverted list of tokens in the order of their documents.
func (x *index) invert(tokens []token, ordinals map[uint64]uint32) {
	x.terms = slices.AppendSeq(make([]uint64, 0, len(ordinals)), maps.Keys(ordinals))
	slices.Sort(x.terms)
	place := make([]uint32, len(ordinals)) // ordinal -> place among the terms
	for i, hash := range x.terms {
		place[ordinals[hash]] = uint32(i)
	}
	x.starts = make([]uint32, len(x.terms)+1)
	for _, t := range tokens {
		x.starts[place[t.term]+1]++
	}
	for i := range x.terms {
		x.starts[i+1] += x.starts[i]
	}
	x.postings = make([]uint32, len(tokens))
	next := slices.Clone(x.starts)
	for _, t := range tokens {
		p := place[t.term]
		x.postings[next[p]] = t.doc
		next[p]++
	}
}

// posting is how often a document holds a lexeme.
type posting struct{ doc, count uint32 }

// places returns the places of the documents that hold a lexeme, one for each time.
func (x *index) places(lexeme string) []uint32 {
	i, known := slices.BinarySearch(x.terms, maphash.String(seed, lexeme))
	if !known {
		return nil
	}
	return x.postings[x.starts[i]:x.starts[i+1]]
}

// appendPostings appends the postings of a lexeme to a list, by place.
func (x *index) appendPostings(list []posting, lexeme string) []posting {
	for _, doc := range x.places(lexeme) {
		if n := len(list); n > 0 && list[n-1].doc == doc {
			list[n-1].count++
		} else {
			list = append(list, posting{doc: doc, count: 1})
		}
	}
	return list
}

// place returns the place of a memory among the documents.
func (x *index) place(id string) (doc int, known bool) {
	i, known := slices.BinarySearchFunc(x.byID, id, func(doc uint32, id string) int {
		return cmp.Compare(x.docs[doc].id, id)
	})
	if !known {
		return 0, false
	}
	return int(x.byID[i]), true
}

// listsWithTags reports for each of tagLists whether it holds all wanted tags.
func (x *index) listsWithTags(wanted []string) []bool {
	holds := make([]bool, len(x.tagLists))
	for i, list := range x.tagLists {
		holds[i] = !slices.ContainsFunc(wanted, func(tag string) bool { return !slices.Contains(list, tag) })
	}
	return holds
}

// nearby is the greatest distance between neighbours in the sequence.
const nearby = 2

// neighbours returns the places of the documents at distances of -2 to 2 in the sequence that
// are of the same conversation, -1 for others. In the middle is the document itself or, if it
// was taken from messages, the first of them.
func (x *index) neighbours(doc int) [2*nearby + 1]int {
	places := [2*nearby + 1]int{-1, -1, -1, -1, -1}
	at, end := doc, len(x.docs)
	if x.sequence != nil {
		at, end = int(x.positions[doc]), len(x.sequence)
	}
	id := x.docs[doc].ConversationID
	for i := max(0, at-nearby); i < min(end, at+nearby+1); i++ {
		place := i
		if x.sequence != nil {
			place = int(x.sequence[i])
		}
		if i == at || id != "" && id == x.docs[place].ConversationID {
			places[i-at+nearby] = place
		}
	}
	return places
}

// skillOf returns the name of the skill that a document is a workflow of, or "".
func (x *index) skillOf(doc int) string {
	if d := &x.docs[doc]; d.Type == memory.TypeSkill {
		return memory.SkillOf(x.tagLists[d.tags])
	}
	return ""
}

// size is about how many bytes the index holds.
func (x *index) size() int {
	const perDocument, perTerm, perToken, perTaking, perPosition = 126, 12, 4, 8, 4
	return perDocument*len(x.docs) + perTerm*len(x.terms) + perToken*len(x.postings) +
		perTaking*len(x.taken) + perPosition*(len(x.sequence)+len(x.positions))
}
