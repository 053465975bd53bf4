package forgetting

import (
	"cmp"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// soonest collects memories in the order of fading: by the date, then by id. Memories that never fade come last.
type soonest struct {
	most int // the memories that are kept, the first ones; 0: all
	all  []aged
	last *aged // the memory that fades last among the kept ones; nil: not known

	dropped bool // there are more memories than those that are kept
}

// spared is how many times as many memories as are kept may be collected before the others are dropped.
const spared = 4

func (s *soonest) add(f aged) {
	if s.last != nil && compareFading(&f, s.last) > 0 {
		s.dropped = true
		return
	}
	if s.all = append(s.all, f); s.most > 0 && len(s.all) >= spared*s.most {
		s.all = s.sorted()
		last := s.all[len(s.all)-1]
		s.last = &last
	}
}

// sorted returns the memories that are kept.
func (s *soonest) sorted() []aged {
	slices.SortFunc(s.all, func(a, b aged) int { return compareFading(&a, &b) })
	if s.most > 0 && len(s.all) > s.most {
		s.dropped = true
		return s.all[:s.most]
	}
	return s.all
}

func compareFading(a, b *aged) int {
	if never := a.FadesAt.IsZero(); never != b.FadesAt.IsZero() {
		if never {
			return 1
		}
		return -1
	}
	return cmp.Or(a.FadesAt.Compare(b.FadesAt), cmp.Compare(a.id, b.id))
}

// How far old goes beyond the exact limits.
const (
	oldMargin = time.Hour                  // more than rounding can change
	always    = 100 * 365 * 24 * time.Hour // after any instant of a memory
)

// old chooses the memories that may have faded at an instant. All that have faded are among them: a memory of
// importance 0 fades no later than others with as many accesses, no memory fades sooner than if all time counted, and
// the least factor of the rule is used.
func (r Rule) old(at time.Time) (o db.Old) {
	r.counted = nil
	const anyType = "any"
	r.Lasts = memory.FactorsOf(map[string]float64{anyType: r.Lasts.Least()})
	for accesses := range o.Idle {
		fades, never := r.fadesByRetention(db.Age{UpdatedAt: at, LastAccessedAt: at, AccessCount: accesses, Type: anyType})
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
