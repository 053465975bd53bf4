package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// negation is the one lexeme of every English negation.
const negation = "not"

// script is the class of a character, by which texts are cut into runs.
type script int

const (
	none   script = iota // separates runs: spaces, punctuation, symbols
	letter               // of a script that writes words
	digit
	cjk // Han, kana and Hangul, written without reliable word boundaries
)

// Lexemes returns the normal forms of s in order, with repeats:
//
//	"Caroline's 2 dogs like running" -> carolin 2 dog like run
//	"我在上海"                        -> 我在 在上 上海
//
// s is brought to NFKC and lower case. Words are stemmed with the English
// Snowball stemmer, and its stop words are left out; but a negation ("no",
// "cannot", "don't") becomes "not", since it turns what is said around. Numbers
// are kept. A run of CJK characters gives its overlapping pairs, or itself when
// it is one character. A lexeme is never empty, is valid UTF-8 and holds no space.
func Lexemes(s string) []string {
	if isASCII(s) {
		return lexemesOfASCII(strings.ToLower(s))
	}
	return lexemesOf(s)
}

// lexemesOf is Lexemes of any text.
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

// lexemesOfASCII is lexemesOf for what most English is written in: a byte is a
// character, already in its normal form.
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

// Paired reports whether a character is matched in pairs: those of scripts that
// are written without word boundaries.
func Paired(r rune) bool { return classify(r) == cjk }

func classify(r rune) script {
	switch {
	case 'a' <= r && r <= 'z': // most of what there is, found soonest
		return letter
	case r == ' ':
		return none
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul), r == 'ー':
		return cjk
	case unicode.IsLetter(r):
		return letter
	case unicode.IsDigit(r):
		return digit
	}
	return none
}

// continues reports whether chars[i] belongs to the run of this kind before it.
// A combining mark stays with its base; an apostrophe joins two letters.
func continues(kind script, chars []rune, i int) bool {
	if kind == none {
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

// appendWord adds the stems of a lower-case word, which may hold apostrophes.
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
