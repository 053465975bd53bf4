package recall

import "hippocampus/internal/memory"

// foldMargin is how much better a message may match than a fact taken from it, in units of the fused value, 0..1, if
// the fact is to stand for both. A message that matches even better says something useful that the fact lacks.
const foldMargin = 0.25

// fold makes one item of a fact and a message that it was taken from, if both are candidates. The item is the fact,
// with the relevance of the message, if the fact states the same or matches nearly as well; else it is the message. Two
// facts of one message stay two items, and the one that matches better gets the relevance of the message. The day of a
// message does not matter, since its fact is of the same day. onFold, unless it is nil, is called with each dropped
// candidate and the id of the memory that stands for it.
//
// A message that states only what was superseded is no item, unless the query asks for the past. The memory that
// superseded it stands for it; if that memory is not active any more, no memory does, and onFold is called with the
// message's own id. The same applies to superseded memories, which are in the index of a query about the past, and to
// memories derived from them. A memory is as relevant as what it superseded: a query for the former value finds the
// present one as well, and ranks it above. A memory that has expired is a candidate only if the query asks for the past
// or for what is over.
func fold(list []relevant, x *index, past bool, onFold func(dropped relevant, by string)) []relevant {
	messages := map[uint32]int{} // superseded and condensed memories too: places in the list, by document
	for i := range list {
		doc := list[i].doc
		t := x.kind(doc).Type
		if _, superseded := x.superseded[doc]; superseded || x.lapsed[doc] || t == memory.TypeMessage ||
			t.IsDerived() {
			messages[uint32(doc)] = i
		}
	}
	if len(messages) == 0 {
		return list
	}
	standIns := make([]string, len(list)) // ids, by place; empty: the candidate is kept
	for _, o := range x.outdated {
		if i, found := messages[o.message]; found {
			switch successor, former := x.successorOf(o.message); {
			case former && (past || x.lapsed[int(o.message)] && successor == int(o.message)):
				list[i].former = x.formerOf(o.message, successor)
			case former:
				standIns[i] = x.id(successor)
			}
		}
	}
	itemOf := func(i int, t taking) (m int, found bool) {
		m, found = messages[t.message]
		return m, found && standIns[m] == "" && standIns[i] == "" && (list[m].former == nil) == (list[i].former == nil)
	}
	stands := map[int]*relevant{} // the fact for each message, by place
	for i := range list {
		fact := &list[i]
		for _, o := range x.outdatedBy(fact.doc) {
			if m, found := messages[o.message]; found {
				fact.riseTo(&list[m])
			}
		}
		for _, t := range x.messagesOf(fact.doc) {
			m, found := itemOf(i, t)
			if !found || list[m].statement-fact.statement > foldMargin && !x.stateTheSame(fact.doc, list[m].doc) {
				continue
			}
			if best := stands[m]; best == nil || fact.statement > best.statement {
				stands[m] = fact
			}
		}
	}
	for m, fact := range stands {
		standIns[m] = fact.id
		fact.riseTo(&list[m])
	}
	for i := range list {
		for _, t := range x.messagesOf(list[i].doc) {
			if m, found := itemOf(i, t); found && list[m].relevance >= list[i].relevance+list[i].message {
				standIns[i] = list[m].id
			}
		}
	}
	kept := make([]relevant, 0, len(list))
	for i, r := range list {
		switch {
		case standIns[i] == "":
			r.relevance += r.message
			if r.former != nil {
				r.former.successor = standInOf(r.former.successor, list, standIns, x)
			}
			kept = append(kept, r)
		case onFold != nil:
			r.message = 0
			onFold(r, standIns[i])
		}
	}
	return kept
}

// riseTo raises the relevance and the confidence of a candidate to those of its message or of what it superseded.
func (r *relevant) riseTo(other *relevant) {
	r.message = max(r.message, other.relevance-r.relevance)
	r.confidence = max(r.confidence, other.confidence)
}

// standInOf returns the place of the document that stands for doc, which is doc itself unless it was folded.
func standInOf(doc int, list []relevant, standIns []string, x *index) int {
	for i := range list {
		if list[i].doc == doc && standIns[i] != "" {
			if standIn, known := x.place(standIns[i]); known {
				return standIn
			}
		}
	}
	return doc
}
