package recall

import (
	"fmt"
	"testing"
	"time"

	"hippocampus/internal/memory"
)

func TestRecall_UsesDecayRateOfTheRequest(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("Ada keeps bees", func(m *memory.Memory) { m.LastAccessedAt = begin.Add(-2 * time.Hour) }, true)
	for rate, want := range map[float64]float64{0: 0.99 * 0.99, 0.5: 0.25, 1: 1} {
		a := f.recall(Query{Text: "bees", NoTouch: true, DecayRate: rate})
		approx(t, fmt.Sprintf("decay at a rate of %g", rate), a.Memories[0].Decay, want)
	}
}

func TestRecall_GathersTheCandidatesOfTheRequest(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.set.Candidates = 3
	for i := range 20 {
		f.add(fmt.Sprintf("Ada keeps bees in hive %d", i), nil, true)
	}
	for candidates, most := range map[int]int{0: 6, 1: 2, 20: 20} {
		a := f.recall(Query{Text: "bees", Limit: 20, NoTouch: true, Candidates: candidates})
		if n := len(a.Memories); n < (most+1)/2 || n > most {
			t.Errorf("%d candidates: %d memories, want %d to %d", candidates, n, (most+1)/2, most)
		}
		if asked := f.searches[len(f.searches)-1].Limit; candidates > 0 && asked != hitsPerCandidate*candidates {
			t.Errorf("%d candidates: the vector store is asked for %d hits", candidates, asked)
		}
	}
}
