package recall

import "math"

// candidate is a memory on its way to a rank.
type candidate struct {
	id       string
	doc      int     // its place in the index
	cosine   float64 // meaningful when compared
	bm25     float64
	lexical  float64 // bm25, 0..1
	sources  sources
	compared bool // cosine is known

	neighbour, speaker, date, when float64 // what lifted it
	question                       float64 // share of its text that asks, 0..1
	relevance                      float64

	skill float64 // what the best workflow of its skill added to its relevance
	fresh bool    // it does not fade
}

// Lift is by how much a memory rises towards its better neighbours in the same
// conversation: an answer often stands beside the words that the query shares.
type Lift struct {
	Near float64 // share of the way to the better of the previous and the next
	Far  float64 // to the better of those at distance two
}

// rise is how far the value of a place rises; places without a value have 0:
//
//	near*max(0, best(previous, next) - v) + far*max(0, best(at distance two) - v)
func (l Lift) rise(x *index, doc int, values []float64) float64 {
	d := &x.docs[doc]
	v, near, far := values[doc], 0.0, 0.0
	for i := max(int(d.from), doc-2); i < min(int(d.to), doc+3); i++ {
		switch i - doc {
		case -1, 1:
			near = max(near, values[i])
		case -2, 2:
			far = max(far, values[i])
		}
	}
	return l.Near*max(0, near-v) + l.Far*max(0, far-v)
}

// Cues are what the ranking makes of signs beside words and meaning.
type Cues struct {
	Speaker  float64 // for a memory of the form "Name: text" whose name is in the query
	Date     float64 // for a memory of the day or month that the query names; half for one of the days after
	When     float64 // for a memory that tells a time, where the query asks when
	Question float64 // share that a memory loses where all its text asks
}

// fuse gives every candidate its relevance, 0..1:
//
//	x = (1 - words)*minmax(cosine) + words*lexical        over the candidates
//	y = x + rise(x) + speaker + date + when               neighbours: candidates alone
//	z = y * (1 - question)
//	relevance = (z / max(z))^contrast
//
// Where no candidate has a cosine, x is lexical alone. Contrast sets relevant
// memories apart, so that decay and importance, by which relevance is then
// multiplied, decide between nearly equal ones alone.
func fuse(found []candidate, x *index, set *Settings, query wanted) {
	cosine, compared := span{}, false
	for _, c := range found {
		if c.compared {
			cosine.add(c.cosine)
			compared = true
		}
	}
	share := 1.0
	if compared {
		share = set.Words
	}
	values := make([]float64, len(x.docs))
	for _, c := range found {
		values[c.doc] = share * c.lexical
		if c.compared {
			values[c.doc] += (1 - share) * cosine.scale(c.cosine)
		}
	}
	cues, best := set.Cues, 0.0
	for i := range found {
		c, doc := &found[i], &x.docs[found[i].doc]
		c.neighbour = set.Lift.rise(x, c.doc, values)
		if query.speaks(doc.cues.speaker) {
			c.speaker = cues.Speaker
		}
		c.date = cues.Date * query.dated(doc.CreatedAt())
		if query.when && doc.cues.timed {
			c.when = cues.When
		}
		c.question = doc.cues.question
		c.relevance = (values[c.doc] + c.neighbour + c.speaker + c.date + c.when) * (1 - cues.Question*c.question)
		best = max(best, c.relevance)
	}
	if best > 0 {
		for i := range found {
			found[i].relevance = math.Pow(found[i].relevance/best, set.Contrast)
		}
	}
}

// span is the range of the values added to it.
type span struct {
	low, high float64
	any       bool
}

func (s *span) add(v float64) {
	if !s.any {
		s.low, s.high, s.any = v, v, true
	}
	s.low, s.high = min(s.low, v), max(s.high, v)
}

// scale maps v to 0..1 over the span. Where all values are equal there is
// nothing to compare: then it is 1 for a signal above 0, and 0 for none.
func (s *span) scale(v float64) float64 {
	switch {
	case s.high == s.low && v > 0:
		return 1
	case s.high == s.low:
		return 0
	}
	return (v - s.low) / (s.high - s.low)
}
