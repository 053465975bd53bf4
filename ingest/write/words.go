package write

import (
	"cmp"
	"math"
	"slices"

	"hippocampus/ingest/judge"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
	"hippocampus/scorer/attribute"
)

// byWords is the number of memories that are judged for their words, in addition to the nearest.
const byWords = judge.MaxNear - bySimilarity

// wordIndex finds facts that have the attributes or the rare words of a draft.
type wordIndex struct {
	w       *Writer
	facts   []memory.Memory
	lexemes [][]string     // of each fact, distinct
	counts  map[string]int // facts with a lexeme
}

func (w *Writer) indexWords(facts []memory.Memory) wordIndex {
	x := wordIndex{w: w, facts: facts, counts: map[string]int{}}
	for _, m := range facts {
		lexemes := distinct(text.Split(m.Lexemes))
		x.lexemes = append(x.lexemes, lexemes)
		for _, l := range lexemes {
			x.counts[l]++
		}
	}
	return x
}

// A word is rare if at most a share of the facts have it, or three facts.
const (
	rareShare = 0.05
	rareFacts = 3
)

// like returns the facts that have a single attribute of the user in common with the draft, and then those with
// the most rare words of the draft, weighted by idf; at most byWords.
func (x wordIndex) like(draft memory.Memory) []memory.Memory {
	claims := x.w.claimsOf(draft.Content)
	weights := map[string]float64{}
	most := max(rareFacts, int(rareShare*float64(len(x.facts))))
	for _, l := range text.Split(draft.Lexemes) {
		if n := x.counts[l]; n > 0 && n <= most && !ofUser[l] {
			weights[l] = math.Log(1 + float64(len(x.facts))/float64(n))
		}
	}
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
		if attribute.Common(claims, x.w.claimsOf(m.Content)) {
			weight += 1000
		}
		if weight > 0 {
			matches = append(matches, match{i, weight})
		}
	}
	slices.SortStableFunc(matches, func(a, b match) int { return cmp.Compare(b.weight, a.weight) })
	var like []memory.Memory
	for _, m := range matches[:min(len(matches), byWords)] {
		like = append(like, x.facts[m.fact])
	}
	return like
}

// ofUser are words that a fact has because it is about the user.
var ofUser = map[string]bool{"user": true, "用户": true}

func distinct(lexemes []string) []string {
	slices.Sort(lexemes)
	return slices.Compact(lexemes)
}
