package text

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/kljensen/snowball/english"
)

// stems caches the stems of words, since stemming is the most expensive part of
// making lexemes and few words make up most texts. Words with the same hash share
// a slot, which holds the latest of them.
var (
	stems    [1 << 13]atomic.Pointer[stemmed]
	stemSeed = maphash.MakeSeed()
)

// stemmed is a word with its stem.
type stemmed struct{ word, stem string }

// maxCached is the length, in bytes, of the longest cached word, so that the cache
// stays under 1 MB.
const maxCached = 24

// stem is the lexeme of a lower-case word; empty for a stop word.
func stem(word string) string {
	if len(word) > maxCached {
		return computeStem(word)
	}
	slot := &stems[maphash.String(stemSeed, word)%uint64(len(stems))]
	if cached := slot.Load(); cached != nil && cached.word == word {
		return cached.stem
	}
	word = strings.Clone(word) // word may be part of a long text
	computed := &stemmed{word: word, stem: computeStem(word)}
	slot.Store(computed)
	return computed.stem
}

func computeStem(word string) string {
	if english.IsStopWord(word) {
		return ""
	}
	if stem := english.Stem(word, true); stem != "" {
		return stem
	}
	return word
}
