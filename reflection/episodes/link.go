package episodes

import (
	"cmp"
	"container/heap"
	"slices"
	"time"

	"hippocampus/internal/memory"
)

// cluster is a group of statements, or of episodes.
type cluster struct {
	members     []int // places, in order
	from, until time.Time
	sum         []float32 // of the members' embeddings, or nil
	words       []weight  // sums of the members' weights, by word
	chinese     bool      // all members are Chinese

	near map[int]bool // clusters that it may be connected with
	gone bool         // it is part of a later one
}

// pair is two clusters and how much they are connected.
type pair struct {
	a, b  int
	score float64
}

// pairs is a heap with the strongest connection on top.
type pairs []pair

func (p pairs) Len() int { return len(p) }
func (p pairs) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(p[j].score, p[i].score), p[i].a-p[j].a, p[i].b-p[j].b) < 0
}
func (p pairs) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p *pairs) Push(x any)   { *p = append(*p, x.(pair)) }
func (p *pairs) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}

// link joins the two clusters that are connected most, again and again (average linkage), and returns what is left, in
// the order of the first members. The leaves are in the order of time; each is compared with the last ones before it.
func link(leaves []*cluster, r rule, c memory.Calibration) []*cluster {
	all := leaves
	var open pairs
	connect := func(a, b int) {
		// A mean is no more than the greater of its parts, but for the time between.
		if score := r.connection(all[a], all[b], c); score >= r.least-r.time {
			all[a].near[b], all[b].near[a] = true, true
			if score >= r.least {
				heap.Push(&open, pair{a, b, score})
			}
		}
	}
	for i, leaf := range all {
		leaf.near = map[int]bool{}
		for j := i - 1; j >= max(i-compared, 0); j-- {
			if !r.timeless && leaf.from.Sub(all[j].until) > window {
				break
			}
			connect(j, i)
		}
	}
	for len(open) > 0 {
		best := heap.Pop(&open).(pair)
		a, b := all[best.a], all[best.b]
		if a.gone || b.gone {
			continue
		}
		a.gone, b.gone = true, true
		all = append(all, joined(a, b))
		for _, old := range []*cluster{a, b} {
			for other := range old.near {
				if next := len(all) - 1; !all[other].gone && !all[next].near[other] {
					connect(other, next)
				}
			}
			old.near = nil
		}
	}
	left := slices.DeleteFunc(slices.Clone(all), func(c *cluster) bool { return c.gone })
	slices.SortFunc(left, func(a, b *cluster) int { return a.members[0] - b.members[0] })
	return left
}

func joined(a, b *cluster) *cluster {
	c := &cluster{
		members: slices.Concat(a.members, b.members), from: a.from, until: a.until, sum: a.sum,
		words: make([]weight, 0, len(a.words)+len(b.words)), chinese: a.chinese && b.chinese, near: map[int]bool{},
	}
	slices.Sort(c.members)
	if b.from.Before(c.from) {
		c.from = b.from
	}
	if b.until.After(c.until) {
		c.until = b.until
	}
	switch {
	case a.sum == nil:
		c.sum = b.sum
	case len(a.sum) == len(b.sum):
		c.sum = slices.Clone(a.sum)
		for i, x := range b.sum {
			c.sum[i] += x
		}
	}
	i, j := 0, 0
	for i < len(a.words) || j < len(b.words) {
		switch {
		case j == len(b.words) || i < len(a.words) && a.words[i].word < b.words[j].word:
			c.words = append(c.words, a.words[i])
			i++
		case i == len(a.words) || b.words[j].word < a.words[i].word:
			c.words = append(c.words, b.words[j])
			j++
		default:
			c.words = append(c.words, weight{a.words[i].word, a.words[i].of + b.words[j].of})
			i++
			j++
		}
	}
	return c
}

// connection says how much two clusters are connected, about 0..1; -1: they must not be one.
func (r rule) connection(a, b *cluster, c memory.Calibration) float64 {
	score := 0.0
	if !r.timeless {
		pause := max(b.from.Sub(a.until), a.from.Sub(b.until), 0)
		if pause > window || max(b.until.Sub(a.from), a.until.Sub(b.from)) > maxSpan {
			return -1
		}
		score = r.time * (1 - float64(pause)/float64(window))
	}
	of := c.English
	if a.chinese && b.chinese {
		of = c.Chinese
	}
	all := float64(len(a.members) * len(b.members))
	if a.sum != nil && len(a.sum) == len(b.sum) && of.Related > of.Floor {
		cosine := float64(memory.Dot(a.sum, b.sum)) / all
		score += r.meaning * min(max((cosine-of.Floor)/(of.Related-of.Floor), 0), 1.2)
	}
	shared := 0.0
	for i, j := 0, 0; i < len(a.words) && j < len(b.words); {
		switch x, y := a.words[i], b.words[j]; {
		case x.word < y.word:
			i++
		case y.word < x.word:
			j++
		default:
			shared += x.of * y.of
			i++
			j++
		}
	}
	return score + r.words*shared/all
}
