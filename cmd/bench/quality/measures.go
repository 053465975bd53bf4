package quality

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Measures of one ranking, each 0..1.
type Measures struct {
	R5   float64 `json:"r5"`   // share of the evidence among the first 5
	R10  float64 `json:"r10"`  // among the first 10
	R20  float64 `json:"r20"`  // among the first 20
	NDCG float64 `json:"ndcg"` // at 10; each turn of evidence has a gain of 1
	MRR  float64 `json:"mrr"`  // 1 / rank of the first evidence, 0 without evidence
}

// measuresOf compares a ranking with the evidence; both are ids of turns.
func measuresOf(ranking, evidence []string) Measures {
	var m Measures
	gain, ideal := 0.0, 0.0
	for i, id := range ranking {
		if !slices.Contains(evidence, id) {
			continue
		}
		if i < 5 {
			m.R5++
		}
		if i < 10 {
			m.R10++
			gain += 1 / math.Log2(float64(i+2))
		}
		if i < 20 {
			m.R20++
		}
		if m.MRR == 0 {
			m.MRR = 1 / float64(i+1)
		}
	}
	for i := range min(10, len(evidence)) {
		ideal += 1 / math.Log2(float64(i+2))
	}
	n := float64(len(evidence))
	return Measures{R5: m.R5 / n, R10: m.R10 / n, R20: m.R20 / n, NDCG: gain / ideal, MRR: m.MRR}
}

// asked holds the measures of one question, with its origin.
type asked struct {
	conversation int
	category     string
	Measures
}

// Mean is the mean over questions, with a 95 % bootstrap interval: 1,000 draws of as
// many conversations with replacement.
type Mean struct {
	Questions int      `json:"questions"`
	Mean      Measures `json:"mean"`
	Low       Measures `json:"low"`
	High      Measures `json:"high"`
}

func summarise(list []asked) Mean {
	groups := map[int][]asked{}
	for _, a := range list {
		groups[a.conversation] = append(groups[a.conversation], a)
	}
	var keys []int
	for k := range groups {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	random := rand.New(rand.NewPCG(1, 2))
	const draws = 1000
	means := make([]Measures, draws)
	for i := range means {
		var drawn []asked
		for range keys {
			drawn = append(drawn, groups[keys[random.IntN(len(keys))]]...)
		}
		means[i] = mean(drawn)
	}
	m := Mean{Questions: len(list), Mean: mean(list)}
	for i, part := range parts {
		values := make([]float64, draws)
		for j := range means {
			values[j] = *part(&means[j])
		}
		slices.Sort(values)
		*parts[i](&m.Low), *parts[i](&m.High) = values[draws*25/1000], values[draws*975/1000]
	}
	return m
}

var parts = []func(*Measures) *float64{
	func(m *Measures) *float64 { return &m.R5 },
	func(m *Measures) *float64 { return &m.R10 },
	func(m *Measures) *float64 { return &m.R20 },
	func(m *Measures) *float64 { return &m.NDCG },
	func(m *Measures) *float64 { return &m.MRR },
}

func mean(list []asked) Measures {
	var m Measures
	for i := range list {
		for _, part := range parts {
			*part(&m) += *part(&list[i].Measures)
		}
	}
	for _, part := range parts {
		*part(&m) /= max(1, float64(len(list)))
	}
	return m
}
