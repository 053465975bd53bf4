package recall

import "hippocampus/internal/memory"

// foldMargin is by how much a message may match better than a fact taken from it, in
// units of the fused value, 0..1, for the fact to stand for both. A message that matches
// even better says more than the fact that is of use here.
const foldMargin = 0.25

// fold makes one item of a fact and a message that it was taken from, where both are
// candidates: the fact, as relevant as the message, if it matches nearly as well; else the
// message. Two facts of one message stay two, of which the one that matches better gets the
// relevance of the message. values are the fused values of the documents before anything was
// added.
func fold(list []relevant, x *index, values []float64) []relevant {
	messages := map[uint32]*relevant{} // by document
	for i := range list {
		if doc := list[i].doc; x.kind(doc).Type == memory.TypeMessage {
			messages[uint32(doc)] = &list[i]
		}
	}
	if len(messages) == 0 {
		return list
	}
	stands := map[uint32]*relevant{} // the fact for each message
	for i := range list {
		fact := &list[i]
		for _, t := range x.messagesOf(fact.doc) {
			doc := t.message
			best := stands[doc]
			if messages[doc] != nil && values[doc]-values[fact.doc] <= foldMargin &&
				(best == nil || values[fact.doc] > values[best.doc]) {
				stands[doc] = fact
			}
		}
	}
	dropped := make([]bool, len(x.docs))
	for doc, fact := range stands {
		dropped[doc] = true
		fact.message = max(fact.message, messages[doc].relevance-fact.relevance)
	}
	for i := range list {
		for _, t := range x.messagesOf(list[i].doc) {
			if m := messages[t.message]; m != nil && !dropped[t.message] && m.relevance >= list[i].relevance {
				dropped[list[i].doc] = true
			}
		}
	}
	kept := make([]relevant, 0, len(list))
	for _, r := range list {
		if !dropped[r.doc] {
			r.relevance += r.message
			kept = append(kept, r)
		}
	}
	return kept
}
