package episodes

import (
	"cmp"
	"math"
	"slices"
	"time"

	"hippocampus/internal/lang/topic"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// item is a statement that may belong to an episode.
type item struct {
	id        string
	at        time.Time
	began     time.Time // of a core statement; zero: at
	standsFor []string  // ids of the memories that a core statement stands for
	episode   string    // the condensed episode that it is in, or empty
	content   string
	domain    memory.Domain
	embedding []float32 // unit length, or nil
}

// The bounds of an episode.
const (
	window     = 28 * 24 * time.Hour  // no pause in it is longer
	maxSpan    = 120 * 24 * time.Hour // it is no longer
	compared   = 60                   // earlier statements that a statement is compared with, the latest
	minMembers = 3
)

// What connects two groups of statements: the mean over all pairs of one of each. They are one from `least` on.
type rule struct {
	meaning, words, time, least float64
	timeless                    bool // any pause and length is allowed
}

var ofEpisodes = rule{meaning: 1, words: 4, time: 0.25, least: 0.57}

// byPlace orders items by time.
func byPlace(a, b item) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.id, b.id)) }

// group divides items into episodes, the earliest first, with their items by time. Items that belong to no episode are
// left out. The order of the items does not matter. What is added within a time changes nothing that is separated from
// it by a pause of the length of the window.
func group(items []item, c memory.Calibration) [][]item {
	items = slices.Clone(items)
	slices.SortFunc(items, byPlace)
	leaves := make([]*cluster, len(items))
	for i, words := range weighed(items) {
		leaves[i] = &cluster{
			members: []int{i}, from: items[i].at, until: items[i].at, words: words, sum: items[i].embedding,
			chinese: text.IsChinese(items[i].content),
		}
	}
	var found [][]item
	for _, c := range link(leaves, ofEpisodes, c) {
		if len(c.members) < minMembers {
			continue
		}
		e := make([]item, len(c.members))
		for i, m := range c.members {
			e[i] = items[m]
		}
		found = append(found, e)
	}
	return found
}

// weight is how much a word says about a text.
type weight struct {
	word int
	of   float64
}

// weighed returns the words and topics of items that are sorted by time. A word counts less if many items within the
// window have it. The squares of each item's weights sum up to 1.
func weighed(items []item) [][]weight {
	numbers := map[string]int{}
	words := make([][]weight, len(items))
	for i, it := range items {
		for _, w := range wordsOf(it.content) {
			if _, known := numbers[w]; !known {
				numbers[w] = len(numbers)
			}
			words[i] = append(words[i], weight{word: numbers[w]})
		}
		slices.SortFunc(words[i], func(a, b weight) int { return a.word - b.word })
	}
	counts := make([]int, len(numbers))
	first, next := 0, 0
	for i, it := range items {
		for ; next < len(items) && items[next].at.Sub(it.at) <= window; next++ {
			for _, w := range words[next] {
				counts[w.word]++
			}
		}
		for ; it.at.Sub(items[first].at) > window; first++ {
			for _, w := range words[first] {
				counts[w.word]--
			}
		}
		squares := 0.0
		for k, w := range words[i] {
			words[i][k].of = math.Log(1 + float64(next-first)/float64(counts[w.word]))
			squares += words[i][k].of * words[i][k].of
		}
		for k := range words[i] {
			words[i][k].of /= math.Sqrt(squares)
		}
	}
	return words
}

// wordsOf returns the lexemes of a statement and its topics, each once.
func wordsOf(content string) []string {
	words := text.Lexemes(content)
	topic.Of(content, words).Each(func(n int) { words = append(words, "topic "+string(rune('A'+n))) })
	slices.Sort(words)
	return slices.Compact(words)
}
