// Package topic finds the topics of statements about a person, by words that belong to topics of everyday life:
//
//	text -> lexemes, and parts of Chinese texts -> topics of topics.txt
//
// Two statements may concern each other though they share no word: "I have no children", "Our daughter was born".
package topic

import (
	_ "embed"
	"math/bits"
	"strings"
	"sync"

	"hippocampus/internal/text"
)

// Set is a set of topics, a bit each.
type Set uint64

// Max is the greatest number of topics.
const Max = 64

// Each calls f with each topic of the set, 0..Max-1.
func (s Set) Each(f func(topic int)) {
	for ; s != 0; s &= s - 1 {
		f(bits.TrailingZeros64(uint64(s)))
	}
}

//go:embed topics.txt
var file string

// lexicon holds the topics of words.
type lexicon struct {
	lexemes map[string]Set
	chinese map[string]Set
	longest int // of chinese, in characters
}

var load = sync.OnceValue(func() lexicon {
	l := lexicon{lexemes: map[string]Set{}, chinese: map[string]Set{}}
	topics := 0
	for line := range strings.Lines(file) {
		english, chinese, isTopic := strings.Cut(line, "|")
		if !isTopic || strings.HasPrefix(line, "#") {
			continue
		}
		topic := Set(1) << topics
		topics++
		for word := range strings.FieldsSeq(english) {
			for _, lexeme := range text.Lexemes(word) {
				l.lexemes[lexeme] |= topic
			}
		}
		for part := range strings.FieldsSeq(chinese) {
			l.chinese[part] |= topic
			l.longest = max(l.longest, len([]rune(part)))
		}
	}
	return l
})

// Of returns the topics of a text. Its lexemes are those of text.Lexemes.
func Of(content string, lexemes []string) (topics Set) {
	l := load()
	for _, lexeme := range lexemes {
		topics |= l.lexemes[lexeme]
	}
	if !strings.ContainsFunc(content, text.IsUnspaced) {
		return topics
	}
	runes := []rune(content)
	for i := range runes {
		for n := 1; n <= l.longest && i+n <= len(runes); n++ {
			topics |= l.chinese[string(runes[i:i+n])]
		}
	}
	return topics
}
