package recall

import (
	"cmp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// newIndex builds the index of all documents of an owner.
func newIndex(revision int64, docs []db.Document) *index {
	return (&index{}).changed(db.Changes{Revision: revision, Documents: docs})
}

// indexOf builds the index of all documents that were read for an owner, in the owner's zone.
func indexOf(read db.Changes, zone *time.Location) *index {
	return (&index{zone: zone}).changed(db.Changes{Revision: read.Revision, Documents: read.Documents})
}

// changed returns the index after changes. Changes that it already has are not counted twice.
func (x *index) changed(changes db.Changes) *index {
	unsaved := x.unsaved.Load() + int64(len(changes.Documents)+len(changes.Gone))
	var faded *fadedWords
	if len(changes.Gone) == 0 {
		faded = x.faded.Load().without(changes.Documents)
	}
	gone := map[int]bool{}
	note := func(id string) {
		if doc, known := x.place(id); known {
			gone[doc] = true
		}
	}
	for _, id := range changes.Gone {
		note(id)
	}
	for i := range changes.Documents {
		note(changes.Documents[i].ID)
	}
	var kept links
	if len(gone) > 0 {
		kept = x.linksBetween(gone)
		x = x.without(gone)
	}
	x = x.with(changes.Revision, changes.Documents, kept)
	x.unsaved.Store(unsaved)
	x.faded.Store(faded)
	return x
}

// without returns the index of all documents but some.
func (x *index) without(gone map[int]bool) *index {
	left := len(x.docs) - len(gone)
	y := &index{
		zone: x.zone, docs: make([]document, 0, left), accessed: make([]atomic.Int64, 0, left),
		lexemes: make([]uint64, 0, len(x.lexemes)),
		kinds:   slices.Clip(x.kinds), tagLists: slices.Clip(x.tagLists), speakers: slices.Clip(x.speakers),
		called: slices.Clip(x.called),
	}
	const nowhere = 1<<32 - 1
	places := make([]uint32, len(x.docs)) // in y
	for doc := range x.docs {
		places[doc] = nowhere
		if gone[doc] {
			continue
		}
		places[doc] = uint32(len(y.docs))
		d := x.docs[doc]
		y.lexemes = append(y.lexemes, x.lexemes[d.end-d.length:d.end]...)
		d.end = uint32(len(y.lexemes))
		y.docs = append(y.docs, d)
		y.accessed = y.accessed[:len(y.docs)]
		y.accessed[places[doc]].Store(x.accessed[doc].Load())
	}
	move := func(list []uint32) []uint32 {
		moved := make([]uint32, 0, len(list))
		for _, doc := range list {
			if places[doc] != nowhere {
				moved = append(moved, places[doc])
			}
		}
		return moved
	}
	y.byID, y.sequence = move(x.byID), move(x.sequence)
	for _, t := range x.taken {
		if places[t.doc] != nowhere && places[t.message] != nowhere {
			y.taken = append(y.taken, taking{doc: places[t.doc], message: places[t.message]})
		}
	}
	for _, o := range x.outdated {
		if places[o.doc] != nowhere && places[o.message] != nowhere {
			o.doc, o.message = places[o.doc], places[o.message]
			y.outdated = append(y.outdated, o)
		}
	}
	return y
}

// withoutTurn returns the index as it was before a turn: without its messages and what was taken from these alone. It
// returns the index itself if that has nothing of the turn.
func (x *index) withoutTurn(turnID string) *index {
	isMade := memory.MadeOf(turnID)
	ofOther := func(t taking) bool { return !isMade(x.docs[t.message].id) }
	var gone []string
	for doc := range x.docs {
		messages := x.messagesOf(doc)
		if isMade(x.docs[doc].id) || len(messages) > 0 && !slices.ContainsFunc(messages, ofOther) {
			gone = append(gone, x.id(doc))
		}
	}
	if gone == nil {
		return x
	}
	return x.changed(db.Changes{Revision: x.revision, Gone: gone})
}

// with returns the index with further documents, and with the kept links to those of them that are messages.
func (x *index) with(revision int64, docs []db.Document, kept links) *index {
	y := &index{
		revision: revision, zone: x.zone, docs: x.docs, accessed: x.accessed, lexemes: x.lexemes,
		taken: x.taken, outdated: x.outdated,
		kinds: x.kinds, tagLists: x.tagLists, speakers: x.speakers, called: x.called, byID: x.byID, sequence: x.sequence,
	}
	if x.grown.Swap(true) { // another index has appended to the lists
		y.docs, y.lexemes = slices.Clip(x.docs), slices.Clip(x.lexemes)
		y.taken, y.outdated = slices.Clip(x.taken), slices.Clip(x.outdated)
		y.accessed = slices.Clip(x.accessed)
		y.kinds, y.tagLists = slices.Clip(x.kinds), slices.Clip(x.tagLists)
		y.speakers, y.called = slices.Clip(x.speakers), slices.Clip(x.called)
	}
	y.append(docs)
	y.byID = y.merged(x.byID, y.added(len(x.docs)), y.compareIDs)
	y.linkMessages(docs, len(x.docs))
	y.linkAgain(kept)
	ordered := slices.DeleteFunc(y.added(len(x.docs)), func(doc uint32) bool {
		return len(y.messagesOf(int(doc))) > 0
	})
	y.sequence = y.merged(x.sequence, ordered, y.compareOrder)
	y.number()
	return y
}

// append appends documents, without their places in the other lists.
func (x *index) append(docs []db.Document) {
	kinds := placesOf(x.kinds, func(k kind) kind { return k })
	tagLists := placesOf(x.tagLists, joinTags)
	speakers := placesOf(x.speakers, func(s string) string { return s })
	called := placesOf(x.called, func(s string) string { return s })
	var before prefixes
	lexemes := len(docs)
	for i := range docs {
		lexemes += strings.Count(docs[i].Lexemes, " ")
	}
	x.lexemes = grow(x.lexemes, lexemes)
	x.docs = grow(x.docs, len(docs))
	x.growAccessed(len(docs))
	for i := range docs {
		d := &docs[i]
		begin := len(x.lexemes)
		x.lexemes = appendHashes(x.lexemes, d.Lexemes)
		c := cuesOf(d.Content)
		if d.Type == memory.TypeMessage {
			c.speaker = strings.ToLower(d.Speaker)
		} else if name := memory.NameOf(d.Speaker); name != "" {
			c.speaker = strings.ToLower(name)
		} else {
			c.called = calledIn(d.Content)
		}
		id, _ := memory.ParseID(d.ID)
		k := kind{Domain: d.Domain, Type: d.Type, AgentID: d.AgentID, ConversationID: d.ConversationID}
		x.docs = append(x.docs, document{
			id: id, repeat: repeatOf(d), importance: d.Importance, question: c.question,
			created: d.CreatedAt.UnixMicro(), timed: c.timed, todo: toDoIn(d),
			about:   aboutOf(d.Content, x.in(d.CreatedAt)),
			expires: expiresOf(d), clause: d.Type == memory.TypeMessage && isPlainClause(d.Content),
			end: uint32(len(x.lexemes)), length: uint32(len(x.lexemes) - begin),
			said:    uint32(max(0, len(x.lexemes)-begin-before.of(d))),
			kind:    intern(kinds, &x.kinds, k, k),
			tags:    intern(tagLists, &x.tagLists, joinTags(d.Tags), d.Tags),
			speaker: intern(speakers, &x.speakers, c.speaker, strings.Clone(c.speaker)),
			called:  intern(called, &x.called, c.called, strings.Clone(c.called)),
		})
		x.accessed = x.accessed[:len(x.docs)]
		x.accessed[len(x.docs)-1].Store(d.LastAccessedAt.UnixMicro())
	}
}

func expiresOf(d *db.Document) int64 {
	if d.ExpiresAt.IsZero() {
		return 0
	}
	return d.ExpiresAt.UnixMicro()
}

// appendHashes appends the hashes of lexemes, which are separated by spaces.
func appendHashes(hashes []uint64, lexemes string) []uint64 {
	for lexeme := range strings.FieldsSeq(lexemes) {
		hashes = append(hashes, xxhash.Sum64String(lexeme))
	}
	return hashes
}

func joinTags(tags []string) string { return strings.Join(tags, "\x00") } // no tag holds a NUL

// placesOf returns the places of distinct values by their keys.
func placesOf[V any, K comparable](list []V, key func(V) K) map[K]uint32 {
	places := make(map[K]uint32, len(list))
	for i, value := range list {
		places[key(value)] = uint32(i)
	}
	return places
}

// intern returns the place of a value in the list of distinct values, to which
// it appends the value if its key is new.
func intern[V any, K comparable](places map[K]uint32, list *[]V, key K, value V) uint32 {
	place, known := places[key]
	if !known {
		place = uint32(len(*list))
		places[key], *list = place, append(*list, value)
	}
	return place
}

// grow returns a list with room for n more values, and for an eighth of all if it must be copied.
func grow[V any](list []V, n int) []V {
	if len(list)+n <= cap(list) {
		return list
	}
	room := len(list) + n
	if len(list) > 0 {
		room += room / 8
	}
	return append(make([]V, 0, room), list...)
}

// growAccessed is grow for the access times, which must be copied one by one.
func (x *index) growAccessed(n int) {
	old := x.accessed
	if len(old)+n <= cap(old) {
		return
	}
	x.accessed = make([]atomic.Int64, len(old), cap(x.docs))
	for i := range old {
		x.accessed[i].Store(old[i].Load())
	}
}

// added returns the places of the documents from a place on.
func (x *index) added(from int) []uint32 {
	places := make([]uint32, 0, len(x.docs)-from)
	for doc := from; doc < len(x.docs); doc++ {
		places = append(places, uint32(doc))
	}
	return places
}

// merged returns a new ordered list of the places of an ordered list and of others.
func (x *index) merged(ordered, others []uint32, order func(a, b int) int) []uint32 {
	compare := func(a, b uint32) int { return order(int(a), int(b)) }
	slices.SortFunc(others, compare)
	merged := make([]uint32, 0, len(ordered)+len(others))
	for _, doc := range others {
		n, _ := slices.BinarySearchFunc(ordered, doc, compare)
		merged = append(append(merged, ordered[:n]...), doc)
		ordered = ordered[n:]
	}
	return append(merged, ordered...)
}

// compareOrder orders documents as they were said: by conversation, time and id.
func (x *index) compareOrder(a, b int) int {
	return cmp.Or(cmp.Compare(x.kind(a).ConversationID, x.kind(b).ConversationID),
		cmp.Compare(x.docs[a].created, x.docs[b].created), x.compareIDs(a, b))
}

// number gives each document its position in the sequence, and lists those that expire.
func (x *index) number() {
	x.listPerishable()
	x.positions = make([]uint32, len(x.docs))
	for i, doc := range x.sequence {
		x.positions[doc] = uint32(i)
	}
	for i, t := range x.taken {
		if i == 0 || x.taken[i-1].doc != t.doc {
			x.positions[t.doc] = x.positions[t.message]
		}
	}
}
