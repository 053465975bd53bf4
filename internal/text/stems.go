package text

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/kljensen/snowball/english"
)

// Stemming costs more than everything else that makes lexemes, and few words
// make up most of what is said: those are stemmed once. Each word has one place,
// which it shares with others: the latest has it.
var (
	stems    [1 << 13]atomic.Pointer[stemmed]
	stemSeed = maphash.MakeSeed()
)

// stemmed is a word with its stem; both are short.
type stemmed struct{ word, stem string }

// longestKept is the longest word, in bytes, whose stem is remembered: with
// places for 8,192, what is remembered stays under 1 MB.
const longestKept = 24

// stem is the lexeme of a word in lower case; empty for a stop word.
func stem(word string) string {
	if len(word) > longestKept {
		return stemNow(word)
	}
	place := &stems[maphash.String(stemSeed, word)%uint64(len(stems))]
	if known := place.Load(); known != nil && known.word == word {
		return known.stem
	}
	word = strings.Clone(word) // it may be a part of a long one
	made := &stemmed{word: word, stem: stemNow(word)}
	place.Store(made)
	return made.stem
}

func stemNow(word string) string {
	if english.IsStopWord(word) {
		return ""
	}
	if stem := english.Stem(word, true); stem != "" {
		return stem
	}
	return word
}
