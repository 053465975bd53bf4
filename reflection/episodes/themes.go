package episodes

import (
	"math"

	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

var ofThemes = rule{meaning: 1, words: 2, least: 1.0, timeless: true}

// minEpisodes is the number of episodes of a theme at least.
const minEpisodes = 2

// themesOf returns the episodes of each theme by their places, in order. An episode is in one theme at most.
func themesOf(episodes [][]item, items []item, c memory.Calibration) (themes [][]int) {
	words := map[string][]weight{}
	for i, w := range weighed(items) {
		words[items[i].id] = w
	}
	leaves := make([]*cluster, len(episodes))
	for i, e := range episodes {
		leaf := &cluster{chinese: true}
		for _, it := range e {
			leaf = joined(leaf, &cluster{sum: it.embedding, words: words[it.id], chinese: text.IsChinese(it.content)})
		}
		leaf.members = []int{i}
		leaf.from, leaf.until = e[0].at, e[len(e)-1].at
		leaf.normalize()
		leaves[i] = leaf
	}
	for _, t := range link(leaves, ofThemes, c) {
		if len(t.members) >= minEpisodes {
			themes = append(themes, t.members)
		}
	}
	return themes
}

// normalize gives the sum of embeddings and the words the length 1.
func (c *cluster) normalize() {
	if length := math.Sqrt(float64(memory.Dot(c.sum, c.sum))); length > 0 {
		unit := make([]float32, len(c.sum))
		for i, x := range c.sum {
			unit[i] = x / float32(length)
		}
		c.sum = unit
	}
	squares := 0.0
	for _, w := range c.words {
		squares += w.of * w.of
	}
	for i := range c.words {
		c.words[i].of /= math.Sqrt(squares)
	}
}
