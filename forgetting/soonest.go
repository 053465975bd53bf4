package forgetting

import (
	"cmp"
	"time"

	"hippocampus/db"
)

// soonest is a heap of memories by the date of fading, then by id: a page of the first ones is found without sorting
// all. Memories that never fade come last.
type soonest []aged

func (s soonest) Len() int      { return len(s) }
func (s soonest) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s *soonest) Push(f any)   { *s = append(*s, f.(aged)) }

func (s soonest) Less(i, j int) bool {
	a, b := &s[i], &s[j]
	if a.FadesAt.IsZero() != b.FadesAt.IsZero() {
		return b.FadesAt.IsZero()
	}
	return cmp.Or(a.FadesAt.Compare(b.FadesAt), cmp.Compare(a.id, b.id)) < 0
}

func (s *soonest) Pop() any {
	last := len(*s) - 1
	f := (*s)[last]
	*s = (*s)[:last]
	return f
}

// How far old goes beyond the exact limits.
const (
	oldMargin = time.Hour                  // more than rounding can change
	always    = 100 * 365 * 24 * time.Hour // after any instant of a memory
)

// old chooses the memories that may have faded at an instant. All that have faded are among them: a memory of
// importance 0 fades no later than others with as many accesses, and no memory fades sooner than if all time counted.
func (r Rule) old(at time.Time) (o db.Old) {
	r.counted = nil
	for accesses := range o.Idle {
		fades, never := r.fadesByRetention(db.Age{UpdatedAt: at, LastAccessedAt: at, AccessCount: accesses})
		switch {
		case never:
		case fades.Equal(at):
			o.Idle[accesses] = at.Add(always)
		default:
			o.Idle[accesses] = at.Add(at.Sub(fades) + oldMargin)
		}
	}
	if r.MessageAge > 0 {
		o.Messages = at.Add(-r.MessageAge)
	}
	return o
}
