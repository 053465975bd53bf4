package text

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/russian"
)

// negation is the lexeme of every English negation.
const negation = "not"

func isApostrophe(r rune) bool { return r == '\'' || r == '’' || r == '‘' || r == 'ʼ' }

// appendWord appends the stems of a lower-case word, which may contain apostrophes.
func appendWord(lexemes []string, word string) []string {
	parts := []string{word}
	if strings.ContainsFunc(word, isApostrophe) {
		parts = strings.FieldsFunc(word, isApostrophe)
	}
	if n := len(parts); n > 1 {
		switch last := parts[n-1]; {
		case last == "t" && strings.HasSuffix(parts[n-2], "n"): // don't, wasn't
			return append(lexemes, negation)
		case isClitic(last): // Caroline's, we'll
			parts = parts[:n-1]
		}
	}
	for _, part := range parts {
		if part == "no" || part == "not" || part == "nor" || part == "cannot" {
			lexemes = append(lexemes, negation)
			continue
		}
		if stem := stem(part); stem != "" {
			lexemes = append(lexemes, stem)
		}
	}
	return lexemes
}

func isClitic(s string) bool {
	switch s {
	case "s", "m", "re", "ve", "ll", "d":
		return true
	}
	return false
}

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
	if first, _ := utf8.DecodeRuneInString(word); unicode.Is(unicode.Cyrillic, first) {
		return russian.Stem(word, true)
	}
	if english.IsStopWord(word) {
		return ""
	}
	if stem := english.Stem(word, true); stem != "" {
		return stem
	}
	return word
}
