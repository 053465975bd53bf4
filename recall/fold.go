package recall

import "hippocampus/internal/memory"

// foldMargin is by how much a message may match better than a fact taken from it, in
// units of the fused value, 0..1, for the fact to stand for both. A message that matches
// even better says more than the fact that is of use here.
const foldMargin = 0.25

// fold makes one item of a fact and a message that it was taken from, where both are
// candidates: the fact, as relevant as the message, if it states the same or matches nearly as well; else the
// message. Two facts of one message stay two, of which the one that matches better gets the
// relevance of the message. The day of a message does not matter, since its fact is of the same day.
// onFold, unless it is nil, gets each candidate that is dropped, and the id of the one that
// stands for it.
//
// A memory is as relevant as a message whose fact it superseded: who asks for the former value
// finds the present one as well, which is more important and fresher.
func fold(list []relevant, x *index, onFold func(dropped relevant, by string)) []relevant {
	messages := map[uint32]int{} // places in the list, by document
	for i := range list {
		if doc := list[i].doc; x.kind(doc).Type == memory.TypeMessage {
			messages[uint32(doc)] = i
		}
	}
	if len(messages) == 0 {
		return list
	}
	stands := map[uint32]*relevant{} // the fact for each message
	for i := range list {
		fact := &list[i]
		own, former := x.messagesOf(fact.doc)
		for _, t := range former {
			if m, found := messages[t.message]; found {
				fact.message = max(fact.message, list[m].relevance-fact.relevance)
			}
		}
		for _, t := range own {
			m, found := messages[t.message]
			if !found || list[m].statement-fact.statement > foldMargin && !x.stateTheSame(fact.doc, list[m].doc) {
				continue
			}
			if best := stands[t.message]; best == nil || fact.statement > best.statement {
				stands[t.message] = fact
			}
		}
	}
	standIns := make([]*relevant, len(list)) // by place; nil: the candidate is kept
	for doc, fact := range stands {
		m := messages[doc]
		standIns[m] = fact
		fact.message = max(fact.message, list[m].relevance-fact.relevance)
	}
	for i := range list {
		own, _ := x.messagesOf(list[i].doc)
		for _, t := range own {
			m, found := messages[t.message]
			if found && standIns[m] == nil && list[m].relevance >= list[i].relevance+list[i].message {
				standIns[i] = &list[m]
			}
		}
	}
	kept := make([]relevant, 0, len(list))
	for i, r := range list {
		switch {
		case standIns[i] == nil:
			r.relevance += r.message
			kept = append(kept, r)
		case onFold != nil:
			r.message = 0
			onFold(r, standIns[i].id)
		}
	}
	return kept
}
