package recall

import (
	"math"

	"hippocampus/internal/lang/asked"
	"hippocampus/router"
)

// mostPrevious is how many characters of Previous a follow-up is searched for with.
const mostPrevious = 400

// ownShares is what the match of a follow-up by itself adds to that with what was said before.
var ownShares = map[asked.Reference]float64{asked.Perhaps: 1.5, asked.Surely: 0.5}

// reference returns how surely a query is to be searched for with what was said before it: "And what does she teach?".
// Small talk is not, nor is a query that asks for a time alone.
func (q *Query) reference() asked.Reference {
	if q.Previous == "" {
		return asked.NoReference
	}
	found := asked.RefersBack(q.Text)
	if found != asked.NoReference && (router.IsSmallTalk(q.Text) || queryCuesOf(q.Text, q.At).timeOnly) {
		return asked.NoReference
	}
	return found
}

// addOwn adds the match of a follow-up by itself to that of both texts, so that what answers the follow-up comes before
// what answered the question before it:
//
//	y         = fused(both)^(1/contrast) + share * fused(itself)^(1/contrast)
//	relevance = (y / max(y))^contrast
func (m *match) addOwn(itself match, share, contrast float64) {
	own, best := map[int]float64{}, 0.0 // by document
	for i := range itself.list {
		own[itself.list[i].doc] = math.Pow(itself.list[i].fused, 1/contrast)
	}
	values := make([]float64, len(m.list))
	for i := range m.list {
		values[i] = math.Pow(m.list[i].fused, 1/contrast) + share*own[m.list[i].doc]
		best = max(best, values[i])
	}
	for i := range m.list {
		m.list[i].fused = math.Pow(values[i]/max(best, math.SmallestNonzeroFloat64), contrast)
		m.list[i].relevance = m.list[i].fused
	}
}
