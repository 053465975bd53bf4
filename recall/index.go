package recall

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"hippocampus/internal/lang/todo"
	"hippocampus/internal/memory"
)

// index holds what recall needs of an owner's active memories at one revision.
// Many queries read it at once; only the access times change after it is built.
// A later revision shares its longest lists, to which changed appends.
type index struct {
	revision int64
	zone     *time.Location             // in which the days that texts name are read; nil: UTC
	grown    atomic.Bool                // a later revision has appended to the shared lists
	off      atomic.Bool                // memory was off for the user when this was read last
	unsaved  atomic.Int64               // changed documents since an index was stored
	faded    atomic.Pointer[fadedWords] // nil: not read since a memory left the index

	docs     []document
	accessed []atomic.Int64 // last access of each document, Unix microseconds
	lexemes  []uint64       // hashes of the lexemes of all documents, in the order of docs

	kinds    []kind
	tagLists [][]string // the distinct lists of tags
	speakers []string   // the distinct speakers
	called   []string   // the distinct names that users state as their own, in lower case

	byID []uint32 // places of the documents in the order of their ids

	// The order in which documents were said. A fact has the position of the first message that it was taken from, so that
	// it separates no neighbours.
	taken     []taking   // by document
	outdated  []outdated // sorted by doc: what superseded them, or the message itself
	sequence  []uint32   // places of the documents that were not taken from messages
	positions []uint32   // in sequence, by document

	superseded map[int]*memory.Memory // by document; nil unless a query asks for the past: see withPast

	perishable []uint32              // places of the documents that expire, by when
	view       atomic.Pointer[index] // the latest of lapsedAt
	// Of a view: the index that it is of, how many documents have expired, and which state nothing that is current.
	whole   *index
	expired int
	lapsed  map[int]bool
}

// document is what the index holds of a memory.
type document struct {
	id         [16]byte
	repeat     uint64 // see repeatOf
	importance float64
	question   float64     // share of its text that consists of questions, 0..1
	created    int64       // Unix microseconds
	end        uint32      // of its lexemes; they begin at the end of the document before it
	length     uint32      // number of its lexemes
	said       uint32      // number of the lexemes of its content, which are the last ones; at most length
	kind       uint32      // place in kinds
	tags       uint32      // place of its list in tagLists
	speaker    uint32      // place in speakers
	called     uint32      // place in called of the name that it states
	about      [2]dayRange // days that its text names
	timed      bool        // its text states a time
	todo       todo.State  // what its text says of something to be done; Nothing unless the user said it
	clause     bool        // a message that is one clause
	expires    int64       // Unix microseconds; 0: never
}

// kind is what many documents share.
type kind struct {
	Domain         memory.Domain
	Type           memory.Type
	AgentID        string
	ConversationID string
}

// taking links a document to a message that it was taken from; both are places.
type taking struct{ doc, message uint32 }

// outdated is a superseded or expired statement of a message. doc is the place of the document that superseded it, or
// that of the message itself if there is no such document. message is the place of the message; for a query about the
// past it may also be a superseded memory. It may also be the expired memory, or one derived from the statement.
type outdated struct {
	doc, message uint32
	whole        bool     // the message is one clause, and states nothing else
	stated       []uint64 // hashes of the lexemes of the superseded memory
	until        int64    // when what superseded it was said, or it expired, Unix microseconds; 0: see untilOf
}

func (d *document) createdAt() time.Time { return time.UnixMicro(d.created).UTC() }

// in returns an instant in the zone of the index.
func (x *index) in(at time.Time) time.Time {
	if x.zone == nil {
		return at.UTC()
	}
	return at.In(x.zone)
}

// isIn reports whether the index has the days of a zone.
func (x *index) isIn(zone *time.Location) bool { return zoneName(x.zone) == zoneName(zone) }

func (x *index) id(doc int) string { return uuid.UUID(x.docs[doc].id).String() }

func (x *index) kind(doc int) *kind { return &x.kinds[x.docs[doc].kind] }

// lexemesOf returns the hashes of the lexemes of a document.
func (x *index) lexemesOf(doc int) []uint64 {
	d := &x.docs[doc]
	return x.lexemes[d.end-d.length : d.end]
}

// average is the mean number of lexemes in a document.
func (x *index) average() float64 { return float64(len(x.lexemes)) / float64(max(1, len(x.docs))) }

// lastAccess is the latest access that this process has seen. The database may
// know a later one.
func (x *index) lastAccess(doc int) time.Time { return time.UnixMicro(x.accessed[doc].Load()).UTC() }

// access records an access. One of two concurrent accesses may be lost.
func (x *index) access(doc int, at time.Time) {
	if at := at.UnixMicro(); at > x.accessed[doc].Load() {
		x.accessed[doc].Store(at)
	}
}

// known returns what the index knows of the importance and the last access of a document.
func (x *index) known(doc int) (importance float64, accessed time.Time) {
	return x.docs[doc].importance, x.lastAccess(doc)
}

// place returns the place of a memory among the documents.
func (x *index) place(id string) (doc int, known bool) {
	wanted, valid := memory.ParseID(id)
	if !valid {
		return 0, false
	}
	i, known := slices.BinarySearchFunc(x.byID, wanted, func(doc uint32, id [16]byte) int {
		return bytes.Compare(x.docs[doc].id[:], id[:])
	})
	if !known {
		return 0, false
	}
	return int(x.byID[i]), true
}

// compareIDs orders documents by their ids.
func (x *index) compareIDs(a, b int) int { return bytes.Compare(x.docs[a].id[:], x.docs[b].id[:]) }

// messagesOf returns the links of a document to the messages that it was taken from.
func (x *index) messagesOf(doc int) []taking {
	first, _ := slices.BinarySearchFunc(x.taken, doc, func(t taking, doc int) int { return cmp.Compare(int(t.doc), doc) })
	end := first
	for end < len(x.taken) && int(x.taken[end].doc) == doc {
		end++
	}
	return x.taken[first:end]
}

// outdatedBy returns the statements that a document superseded or, of a message, its own ones that no document
// superseded.
func (x *index) outdatedBy(doc int) []outdated {
	first, _ := slices.BinarySearchFunc(x.outdated, doc, func(o outdated, doc int) int {
		return cmp.Compare(int(o.doc), doc)
	})
	end := first
	for end < len(x.outdated) && int(x.outdated[end].doc) == doc {
		end++
	}
	return x.outdated[first:end]
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

// neighbours returns the places of the documents at distances of -2 to 2 in the sequence, and -1 for a document of
// another conversation. In the middle is the document itself or, if it was taken from messages, the first of them.
func (x *index) neighbours(doc int) [2*nearby + 1]int {
	places := [2*nearby + 1]int{-1, -1, -1, -1, -1}
	at := int(x.positions[doc])
	id := x.kind(doc).ConversationID
	for i := max(0, at-nearby); i < min(len(x.sequence), at+nearby+1); i++ {
		place := int(x.sequence[i])
		if i == at || id != "" && id == x.kind(place).ConversationID {
			places[i-at+nearby] = place
		}
	}
	return places
}

// isAnswer reports whether a document is a message of the assistant.
func (x *index) isAnswer(doc int) bool {
	speaker := x.speakers[x.docs[doc].speaker]
	return x.kind(doc).Type == memory.TypeMessage &&
		(speaker == memory.RoleAssistant || strings.HasPrefix(speaker, memory.RoleAssistant+` "`))
}

// isPassage reports whether a document of the index quotes a document that an app gave.
func (x *index) isPassage(doc int) bool {
	return x.kind(doc).Type == memory.TypeMessage && x.speakers[x.docs[doc].speaker] == memory.SpeakerDocument
}

// onlyAnswerBetween reports whether the document between two others is a message of the assistant, and neither of the
// two is. between is -1 if that document is of another conversation.
func (x *index) onlyAnswerBetween(one, between, other int) bool {
	return between >= 0 && x.isAnswer(between) && !x.isAnswer(one) && !x.isAnswer(other)
}

// skillOf returns the name of the skill that a document is a workflow of, or "".
func (x *index) skillOf(doc int) string {
	if x.kind(doc).Type == memory.TypeSkill {
		return memory.SkillOf(x.tagLists[x.docs[doc].tags])
	}
	return ""
}

// size is about how many bytes the index holds.
func (x *index) size() int {
	const perDocument, perAccess, perLexeme, perPlace, perTaking, perOutdated = 112, 8, 8, 4, 8, 120
	const perKind, perText = 80, 40
	return perDocument*cap(x.docs) + perAccess*cap(x.accessed) + perLexeme*cap(x.lexemes) +
		perPlace*(cap(x.byID)+cap(x.sequence)+cap(x.positions)) + perTaking*cap(x.taken) +
		perOutdated*(cap(x.outdated)+2*len(x.perishable)) +
		perKind*cap(x.kinds) + perText*(cap(x.tagLists)+cap(x.speakers)+cap(x.called)) + x.faded.Load().size()
}
