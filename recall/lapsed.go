package recall

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// What has expired is former, as if something had superseded it when it expired. This is decided when a query is
// answered:
//
//	index, instant -> view of the index: the expired documents and their messages are outdated, and those that state
//	nothing else have lapsed
//
// A view serves until the next document expires.

// lapsedAt returns the view of the index at an instant: the index itself if nothing has expired by then.
func (x *index) lapsedAt(at time.Time) *index {
	n, _ := slices.BinarySearchFunc(x.perishable, at.UnixMicro(), func(doc uint32, at int64) int {
		if x.docs[doc].expires <= at {
			return -1
		}
		return 1
	})
	if n == 0 {
		return x
	}
	y := x.view.Load()
	if y == nil || y.expired != n {
		y = x.withExpired(x.perishable[:n])
		x.view.Store(y)
	}
	return y
}

// withExpired returns the view of the index in which documents have expired.
func (x *index) withExpired(expired []uint32) *index {
	y := &index{
		revision: x.revision, zone: x.zone, docs: x.docs, accessed: x.accessed, lexemes: x.lexemes, kinds: x.kinds,
		tagLists: x.tagLists, speakers: x.speakers, called: x.called, byID: x.byID, taken: x.taken, sequence: x.sequence,
		positions: x.positions, superseded: x.superseded,
		whole: x, expired: len(expired), lapsed: make(map[int]bool, 2*len(expired)),
	}
	y.outdated = slices.Clone(x.outdated)
	messages := map[uint32][]uint64{} // lexemes of what is known to be stated in a message
	for _, doc := range expired {
		o := outdated{doc: doc, message: doc, whole: true, stated: x.lexemesOf(int(doc)), until: x.docs[doc].expires}
		y.outdated = append(y.outdated, o)
		y.lapsed[int(doc)] = true
		for _, t := range x.messagesOf(int(doc)) {
			o.doc, o.message = t.message, t.message
			o.whole = x.docs[t.message].clause
			y.outdated = append(y.outdated, o)
			messages[t.message] = nil
		}
	}
	slices.SortStableFunc(y.outdated, func(a, b outdated) int {
		return cmp.Or(cmp.Compare(a.doc, b.doc), x.compareIDs(int(a.message), int(b.message)))
	})
	add := func(message uint32, stated []uint64) {
		if all, wanted := messages[message]; wanted {
			messages[message] = append(all, stated...)
		}
	}
	for _, o := range y.outdated {
		add(o.message, o.stated)
	}
	for _, t := range x.taken {
		add(t.message, x.lexemesOf(int(t.doc)))
	}
	for message, stated := range messages {
		if x.docs[message].clause || x.isStatedBy(int(message), stated) {
			y.lapsed[int(message)] = true
		}
	}
	return y
}

// origin returns the index that a view is of; the index itself if it is no view.
func (x *index) origin() *index { return cmp.Or(x.whole, x) }

// listPerishable lists the documents that expire.
func (x *index) listPerishable() {
	x.perishable = nil
	for doc := range x.docs {
		if x.docs[doc].expires != 0 {
			x.perishable = append(x.perishable, uint32(doc))
		}
	}
	slices.SortFunc(x.perishable, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(x.docs[a].expires, x.docs[b].expires), cmp.Compare(a, b))
	})
}

// keepCurrent removes the documents that have lapsed.
func (s *scope) keepCurrent(x *index) {
	if len(x.lapsed) == 0 {
		return
	}
	for doc := range x.lapsed {
		s.open[doc] = false
	}
	s.matching = slices.DeleteFunc(s.matching, func(doc int) bool { return x.lapsed[doc] })
}

// isPlainClause reports whether a text has one clause by its marks alone. Unlike isOneClause it takes little time, so
// that it can be asked of every message; it is false of some texts of one clause, such as those with an abbreviation.
func isPlainClause(content string) bool {
	content = strings.TrimRight(content, " .!?。！？\n")
	if strings.ContainsAny(content, ",;:.!?，、；：。！？\n") {
		return false
	}
	return !slices.ContainsFunc(conjunctions, func(word string) bool { return strings.Contains(content, word) })
}

var conjunctions = []string{" and ", " but ", " because ", " und ", " et ", " y ", " e "}
