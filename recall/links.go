package recall

import (
	"cmp"
	"slices"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// linkMessages links messages to the documents from a place on that were taken from them, or that superseded a memory
// that was. It also notes which of these documents were derived from superseded memories.
func (x *index) linkMessages(docs []db.Document, from int) {
	placeOf := func(id string) (uint32, bool) {
		place, known := x.place(id)
		return uint32(place), known && x.kind(place).Type == memory.TypeMessage
	}
	for i := range docs {
		doc := uint32(from + i)
		for _, id := range docs[i].DerivedFrom {
			if message, known := placeOf(id); known {
				x.taken = append(x.taken, taking{doc: doc, message: message})
			}
		}
		for _, f := range docs[i].Supersedes {
			message, known := placeOf(f.From)
			if f.From == docs[i].ID {
				message, known = doc, true
			}
			if known {
				x.outdated = append(x.outdated, outdated{
					doc: doc, message: message, whole: isOneClause(f.Said), stated: appendHashes(nil, f.Lexemes),
				})
			}
		}
	}
}

// links connect documents that stay with messages that are replaced, by ids. A message is also replaced if one of the
// facts that were taken from it was superseded, while its other facts stay.
type links struct {
	taken    []link
	outdated []link
}

type link struct {
	doc, message string
	statement    outdated // of an outdated one; its places are from before the change
}

// linksBetween returns the links from documents that stay to documents that are removed.
func (x *index) linksBetween(gone map[int]bool) (between links) {
	isBetween := func(doc, message uint32) bool { return gone[int(message)] && !gone[int(doc)] }
	for _, t := range x.taken {
		if isBetween(t.doc, t.message) {
			between.taken = append(between.taken, link{doc: x.id(int(t.doc)), message: x.id(int(t.message))})
		}
	}
	for _, o := range x.outdated {
		if isBetween(o.doc, o.message) {
			between.outdated = append(between.outdated,
				link{doc: x.id(int(o.doc)), message: x.id(int(o.message)), statement: o})
		}
	}
	return between
}

// linkAgain restores links to messages that were replaced, in the order of linkMessages. The lists must be the index's
// own.
func (x *index) linkAgain(kept links) {
	placesOf := func(l link) (doc, message uint32, known bool) {
		from, isThere := x.place(l.doc)
		to, isReplaced := x.place(l.message)
		return uint32(from), uint32(to), isThere && isReplaced && x.kind(to).Type == memory.TypeMessage
	}
	for _, l := range kept.taken {
		if doc, message, known := placesOf(l); known {
			x.taken = append(x.taken, taking{doc: doc, message: message})
		}
	}
	for _, l := range kept.outdated {
		if doc, message, known := placesOf(l); known {
			o := l.statement
			o.doc, o.message = doc, message
			x.outdated = append(x.outdated, o)
		}
	}
	if len(kept.taken) > 0 {
		slices.SortStableFunc(x.taken, func(a, b taking) int {
			return cmp.Or(cmp.Compare(a.doc, b.doc), x.compareIDs(int(a.message), int(b.message)))
		})
	}
	if len(kept.outdated) > 0 {
		slices.SortStableFunc(x.outdated, func(a, b outdated) int {
			return cmp.Or(cmp.Compare(a.doc, b.doc), x.compareIDs(int(a.message), int(b.message)))
		})
	}
}
