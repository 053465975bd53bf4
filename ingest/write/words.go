package write

import (
	"cmp"
	"math"
	"slices"

	"hippocampus/ingest/judge"
	"hippocampus/internal/lang/topic"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
	"hippocampus/scorer/attribute"
)

// wordIndex finds facts that have the attributes, the topics or the rare words of a draft.
type wordIndex struct {
	w       *Writer
	facts   []memory.Memory
	lexemes [][]string     // of each fact, distinct
	counts  map[string]int // facts with a lexeme
	topics  []topic.Set    // of each fact
	about   [topic.Max]int // facts with a topic
}

func (w *Writer) indexWords(facts []memory.Memory) wordIndex {
	x := wordIndex{w: w, facts: facts, counts: map[string]int{}}
	for _, m := range facts {
		lexemes := distinct(text.Split(m.Lexemes))
		x.lexemes = append(x.lexemes, lexemes)
		for _, l := range lexemes {
			x.counts[l]++
		}
		topics := topic.Of(m.Content, lexemes)
		x.topics = append(x.topics, topics)
		topics.Each(func(t int) { x.about[t]++ })
	}
	return x
}

// A word is rare if at most a share of the facts have it, or three facts.
const (
	rareShare = 0.05
	rareFacts = 3
)

// like returns the facts that have a single attribute in common with the draft, followed by the facts with the most
// topics and rare words of the draft, weighted by idf; at most judge.MaxNear.
func (x wordIndex) like(draft memory.Memory) []memory.Memory {
	claims := x.w.claimsOf(draft.Content)
	weights := map[string]float64{}
	most := max(rareFacts, int(rareShare*float64(len(x.facts))))
	lexemes := text.Split(draft.Lexemes)
	for _, l := range lexemes {
		if n := x.counts[l]; n > 0 && n <= most && !ofUser[l] {
			weights[l] = x.idf(n)
		}
	}
	topics := topic.Of(draft.Content, lexemes)
	type match struct {
		fact   int
		weight float64
	}
	var matches []match
	for i, m := range x.facts {
		weight := 0.0
		for _, l := range x.lexemes[i] {
			weight += weights[l]
		}
		(topics & x.topics[i]).Each(func(t int) { weight += x.idf(x.about[t]) })
		if attribute.Common(claims, x.w.claimsOf(m.Content)) {
			weight += 1000
		}
		if weight > 0 {
			matches = append(matches, match{i, weight})
		}
	}
	slices.SortStableFunc(matches, func(a, b match) int { return cmp.Compare(b.weight, a.weight) })
	var like []memory.Memory
	for _, m := range matches[:min(len(matches), judge.MaxNear)] {
		like = append(like, x.facts[m.fact])
	}
	return like
}

// idf returns the weight of a lexeme or topic that n of the facts have.
func (x wordIndex) idf(n int) float64 { return math.Log(1 + float64(len(x.facts))/float64(n)) }

// ofUser are words that facts have because they are about the user.
var ofUser = map[string]bool{"user": true, "用户": true}

func distinct(lexemes []string) []string {
	slices.Sort(lexemes)
	return slices.Compact(lexemes)
}
