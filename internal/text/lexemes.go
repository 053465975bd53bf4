package text

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"golang.org/x/text/unicode/norm"
)

// negation is the one lexeme of every English negation.
const negation = "not"

// script is the class of a character. A text is split into runs of one class.
type script int

const (
	separator script = iota // spaces, punctuation, symbols
	letter                  // of a script with word boundaries
	digit
	cjk // Han, kana and Hangul, which have no reliable word boundaries
)

// Lexemes returns the normal forms of s in order, with repeats:
//
//	"Caroline's 2 dogs like running" -> carolin 2 dog like run
//	"我在上海"                        -> 我在 在上 上海
//
// s is normalised to NFKC and lower case. Words are stemmed with the English
// Snowball stemmer, and its stop words are dropped; but a negation ("no",
// "cannot", "don't") becomes "not", since it reverses the meaning. Numbers are
// kept. A run of CJK characters becomes its overlapping pairs, or a single
// character itself. A lexeme is never empty, is valid UTF-8 and contains no space.
func Lexemes(s string) []string {
	if isASCII(s) {
		return lexemesOfASCII(strings.ToLower(s))
	}
	return lexemesOf(s)
}

// lexemesOf implements Lexemes for any text.
func lexemesOf(s string) []string {
	var lexemes []string
	chars := []rune(strings.ToLower(norm.NFKC.String(strings.ToValidUTF8(s, " "))))
	for start := 0; start < len(chars); {
		kind := classify(chars[start])
		end := start + 1
		for end < len(chars) && continues(kind, chars, end) {
			end++
		}
		switch run := chars[start:end]; kind {
		case letter:
			lexemes = appendWord(lexemes, string(run))
		case digit:
			lexemes = append(lexemes, string(run))
		case cjk:
			lexemes = appendPairs(lexemes, run)
		}
		start = end
	}
	return lexemes
}

// lexemesOfASCII is a faster lexemesOf for ASCII text, which needs no normalisation.
func lexemesOfASCII(s string) []string {
	var lexemes []string
	isLetter := func(i int) bool { return i < len(s) && 'a' <= s[i] && s[i] <= 'z' }
	isDigit := func(i int) bool { return i < len(s) && '0' <= s[i] && s[i] <= '9' }
	for start := 0; start < len(s); {
		end := start + 1
		switch {
		case isLetter(start):
			for isLetter(end) || end < len(s) && s[end] == '\'' && isLetter(end+1) {
				end++
			}
			lexemes = appendWord(lexemes, s[start:end])
		case isDigit(start):
			for isDigit(end) {
				end++
			}
			lexemes = append(lexemes, s[start:end])
		}
		start = end
	}
	return lexemes
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// IsCJK reports whether a character belongs to a script without word boundaries,
// for which Lexemes returns pairs.
func IsCJK(r rune) bool { return classify(r) == cjk }

func classify(r rune) script {
	switch {
	case 'a' <= r && r <= 'z': // the most frequent characters first
		return letter
	case r == ' ':
		return separator
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul), r == 'ー':
		return cjk
	case unicode.IsLetter(r):
		return letter
	case unicode.IsDigit(r):
		return digit
	}
	return separator
}

// continues reports whether chars[i] continues the run of this kind before it. A
// combining mark continues any run; an apostrophe joins two letters.
func continues(kind script, chars []rune, i int) bool {
	if kind == separator {
		return false
	}
	if unicode.IsMark(chars[i]) {
		return true
	}
	if kind == letter && isApostrophe(chars[i]) {
		return i+1 < len(chars) && classify(chars[i+1]) == letter
	}
	return classify(chars[i]) == kind
}

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

func appendPairs(lexemes []string, run []rune) []string {
	if len(run) == 1 {
		return append(lexemes, string(run))
	}
	for i := range len(run) - 1 {
		lexemes = append(lexemes, string(run[i:i+2]))
	}
	return lexemes
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
	if english.IsStopWord(word) {
		return ""
	}
	if stem := english.Stem(word, true); stem != "" {
		return stem
	}
	return word
}
