// Package statement separates statements about the speaker from other sentences, in English and Chinese:
//
//	sentence -> words, pairs of words, classes of words (words.txt) -> weights -> probability of each domain,
//	            and the meaning of English words (wordvec)                        and of "no statement"
//
// The weights of each language are those of a softmax regression on the labelled sentences in training/. go generate
// makes them, and prints the results of a cross-validation.
package statement

import (
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

//go:generate go run ./train

// Reading says what a sentence probably is.
type Reading struct {
	Statement float64       // 0..1: probability of a statement about the speaker
	Known     bool          // enough of its words have weights to take it for a statement
	Domain    memory.Domain // the likeliest domain if it is a statement; never general_chat
}

// Read reads one sentence.
func Read(sentence string) Reading { return modelOf(sentence).Read(sentence) }

// Read reads one sentence.
func (m *Model) Read(sentence string) Reading {
	f := featuresOf(sentence)
	p := m.probabilities(f)
	return Reading{
		Statement: 1 - p[noStatement], Known: m.hasEvidence(f), Domain: memory.Domains[likeliest(p)],
	}
}

// Domain returns the domain of a memory's content: that of Read, or general_chat if the five other domains are
// about equally likely or no word is known.
func Domain(content string) memory.Domain {
	const standsOut = 0.4 // share of the likeliest domain among the five
	m, f := modelOf(content), featuresOf(content)
	if !m.knowsAWord(f) {
		return memory.GeneralChat
	}
	p := m.probabilities(f)
	best := likeliest(p)
	if p[best] < standsOut*(1-p[noStatement]) {
		return memory.GeneralChat
	}
	return memory.Domains[best]
}

// likeliest returns the place of the likeliest domain other than general_chat.
func likeliest(p distribution) int {
	best := -1
	for i := range p {
		if i != noStatement && (best < 0 || p[i] > p[best]) {
			best = i
		}
	}
	return best
}

func modelOf(s string) *Model {
	if text.IsChinese(s) {
		return loadChinese()
	}
	return loadEnglish()
}
