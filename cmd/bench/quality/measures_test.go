package quality

import (
	"math"
	"testing"
)

func TestMeasure_RanksEvidence(t *testing.T) {
	t.Parallel()
	ranking := make([]string, 30)
	for i := range ranking {
		ranking[i] = string(rune('a' + i))
	}
	for _, c := range []struct {
		name     string
		evidence []string
		want     Measures
	}{
		{"the first", []string{"a"}, Measures{1, 1, 1, 1, 1}},
		{"none is found", []string{"Z"}, Measures{}},
		{"one of two, second", []string{"b", "Z"}, Measures{0.5, 0.5, 0.5, (1 / math.Log2(3)) / (1 + 1/math.Log2(3)), 0.5}},
		{"at 6, at 11 and at 21", []string{"f", "k", "u"}, Measures{
			R5: 0, R10: 1.0 / 3, R20: 2.0 / 3, NDCG: (1 / math.Log2(7)) / (1 + 1/math.Log2(3) + 0.5), MRR: 1.0 / 6,
		}},
	} {
		got := measuresOf(ranking, c.evidence)
		for i, part := range parts {
			if g, w := *part(&got), *part(&c.want); math.Abs(g-w) > 1e-9 {
				t.Errorf("%s: part %d is %v, not %v", c.name, i, g, w)
			}
		}
	}
}

// The interval resamples whole conversations. If all are alike, it is a point.
func TestSummarise_ResamplesConversations(t *testing.T) {
	t.Parallel()
	var list []asked
	for i := range 10 {
		list = append(list, asked{conversation: i % 2, Measures: Measures{R10: float64(i % 2)}})
	}
	m := summarise(list)
	if m.Questions != 10 || m.Mean.R10 != 0.5 || m.Low.R10 != 0 || m.High.R10 != 1 {
		t.Errorf("two unlike conversations give %+v", m)
	}
	if m = summarise(list[:1]); m.Low != m.Mean || m.High != m.Mean {
		t.Errorf("one conversation gives %+v", m)
	}
}
