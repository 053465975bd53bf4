package recall

import (
	"math"
	"slices"

	"hippocampus/internal/lang/todo"
	"hippocampus/internal/memory"
)

// Lift is how far a memory is lifted towards better neighbours in the same
// conversation: an answer often follows the words that the query shares.
type Lift struct {
	Near float64 // share of the way to the better of the previous and the next memory
	Far  float64 // share of the way to the better of the memories at distance two
}

// of returns by how much the value at a place is lifted; places without a value
// have 0:
//
//	near*max(0, best(previous, next) - v) + far*max(0, best(at distance two) - v)
//
// The neighbours of a fact are those of its message. Two messages of the user with one
// answer of the assistant between them count as previous and next.
func (l Lift) of(x *index, doc int, values []float64) float64 {
	v := values[doc]
	near, far := v, v
	places := x.neighbours(doc)
	for i, other := range places {
		switch {
		case i == nearby || other < 0 || values[other] <= v:
		case i == nearby-1 || i == nearby+1 || x.onlyAnswerBetween(places[nearby], places[(i+nearby)/2], other):
			near = max(near, values[other])
		default:
			far = max(far, values[other])
		}
	}
	return l.Near*(near-v) + l.Far*(far-v)
}

// Cues are the weights of signals other than words and similarity.
type Cues struct {
	Speaker  float64 // added to a memory of the form "Name: text" if the query has the name
	Date     float64 // added to a memory of the day or month that the query names; half for the days after
	When     float64 // added to a memory that states a time if the query asks when
	Route    float64 // added to a memory in a domain of the route
	Question float64 // share that a memory loses if all its text consists of questions
}

// relevant is a candidate with its relevance and what contributed to it.
type relevant struct {
	candidate
	similarity float64 // the share of the cosine in the fused value
	worded     float64 // the share of the lexical score in the fused value, numbers included
	statement  float64 // the fused value as if the texts of messages had no day
	neighbour  float64 // added for neighbours in the conversation
	speaker    float64 // added by a cue, like date and when
	date       float64
	when       float64
	toDo       float64
	routed     float64
	question   float64 // share of its text that consists of questions, 0..1
	message    float64 // added to reach the relevance of a message that it was taken from, or whose fact it superseded
	skill      float64 // added to reach the relevance of the best workflow of its skill
	rerank     float64 // the reranking model's part of the relevance
	fused      float64 // the relevance before message, skill and rerank
	relevance  float64 // fused + message + skill + rerank
	confidence float64 // see Fit
	undecayed  bool    // a workflow of a skill: its decay is 1
	former     *former // nil: it is current, or the query does not ask for the past
}

// besidesTime is the share that words and similarity keep if the times of a query alone say what it asks for, or if it
// asks for all that is still to be done.
const besidesTime = 0.25

// ofTopic is added to what is still to be done if the query asks for that about some topic.
const ofTopic = 0.2

// fuse computes the relevance of each candidate, 0..1:
//
//	scaled = (cosine - min(cosine)) / max(max(cosine) - min(cosine), 0.2)
//	x = (1 - words)*scaled + words*lexical                over the candidates
//	y = x + lift(x) + numbers + speaker + date + when + toDo + routed      among the candidates
//	z = y * (1 - question)
//	z = ofDocument * z                                     of a passage of a document, if the query is about the user
//	relevance = (z / max(z))^contrast
//
// If the query names nothing but times, x is a quarter of this, and a memory of such a time gets 1 as its date. A query
// for all that is still to be done has such an x too, and each memory that states it gets 1. If no candidate has a
// cosine, x is lexical. Contrast sets relevant memories apart, so that decay and importance decide between nearly equal
// ones only.
func fuse(candidates []candidate, x *index, set *Settings, query queryCues, routed []memory.Domain) []relevant {
	cosines, words := span{}, 1.0
	for _, c := range candidates {
		if c.compared {
			cosines.add(c.cosine)
			words = set.Words
		}
	}
	values := make([]float64, len(x.docs))
	similar, dated := 1-words, set.Cues.Date
	toDo := ofTopic
	if query.timeOnly {
		dated = 1
	}
	if query.toDo == todo.Everything {
		toDo = 1
	}
	if query.namesNothing() {
		words *= besidesTime
		similar *= besidesTime
	}
	for _, c := range candidates {
		values[c.doc] = words * c.lexical
		if c.compared {
			values[c.doc] += similar * cosines.scale(c.cosine)
		}
	}
	list, best := make([]relevant, len(candidates)), 0.0
	for i, c := range candidates {
		doc := &x.docs[c.doc]
		r := relevant{candidate: c, worded: words*c.lexical + c.numbers, neighbour: set.Lift.of(x, c.doc, values)}
		r.question = doc.question
		if c.compared {
			r.similarity = similar * cosines.scale(c.cosine)
		}
		r.statement = words*c.undated + r.similarity
		if query.namesSpeaker(x.speakers[doc.speaker]) {
			r.speaker = set.Cues.Speaker
		}
		r.date = dated * query.dateMatch(doc)
		if query.asksWhen && doc.timed {
			r.when = set.Cues.When
		}
		if c.sources&fromToDo != 0 {
			r.toDo = toDo
		}
		if slices.Contains(routed, x.kind(c.doc).Domain) {
			r.routed = set.Cues.Route
		}
		y := values[c.doc] + c.numbers + r.neighbour + r.speaker + r.date + r.when + r.toDo + r.routed
		r.relevance = y * (1 - set.Cues.Question*r.question)
		if query.ofSelf && x.isPassage(c.doc) {
			r.relevance *= ofDocument
		}
		best = max(best, r.relevance)
		list[i] = r
	}
	if best > 0 {
		for i := range list {
			list[i].fused = math.Pow(list[i].relevance/best, set.Contrast)
			list[i].relevance = list[i].fused
		}
	}
	return list
}

// unite makes one item of each fact and its message, and of messages that repeat each other, and gives the workflows of
// a skill one relevance. onFold, which may be nil, gets each candidate that another one stands for.
func unite(list []relevant, x *index, past bool, onFold func(dropped relevant, by string)) []relevant {
	list = foldRepeats(fold(list, x, past, onFold), x, onFold)
	equalizeSkills(list, x)
	return list
}

// equalizeSkills makes the workflows of each skill as relevant as the best of
// them, so that they are ordered by their importance, which states how well they are proven. For the same reason they
// do not decay.
func equalizeSkills(list []relevant, x *index) {
	best := map[string]float64{}
	for i := range list {
		if name := x.skillOf(list[i].doc); name != "" {
			list[i].undecayed = true
			best[name] = max(best[name], list[i].relevance)
		}
	}
	for i := range list {
		if r := &list[i]; r.undecayed {
			lift := best[x.skillOf(r.doc)] - r.relevance
			r.skill += lift
			r.relevance += lift
		}
	}
}

// minSpan is the range of cosines from which the most similar candidate gets the whole share of similarity.
// Among a few memories that are all unlike the query, words decide.
const minSpan = 0.2

// span is the range of the values added to it.
type span struct {
	low, high float64
	any       bool
}

func (s *span) add(v float64) {
	if !s.any {
		s.low = v
		s.high = v
		s.any = true
	}
	s.low, s.high = min(s.low, v), max(s.high, v)
}

// scale maps v to 0..1 over the span, which counts as minSpan if it is smaller. If all values are equal, it
// returns 1 for a value above 0, otherwise 0.
func (s *span) scale(v float64) float64 {
	switch {
	case s.high == s.low && v > 0:
		return 1
	case s.high == s.low:
		return 0
	}
	return (v - s.low) / max(s.high-s.low, minSpan)
}
