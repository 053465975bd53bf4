package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Lexemes returns the normal forms of s in order, with repeats:
//
//	"Caroline's 2 dogs like running" -> carolin 2 dog like run
//	"Jürgen schreibt C++"            -> juergen schreibt c++
//	"我在上海"                        -> 我在 在上 上海
//
// The characters of s are folded, so that the spellings of a word are one: see fold.
// Words are stemmed with the Snowball stemmer for English, or for Russian if they are
// Cyrillic. English stop words are dropped; but a negation ("no", "cannot", "don't")
// becomes "not", since it reverses the meaning. Numbers are kept. A run of characters
// of a paired script becomes its overlapping pairs, or a single character itself. A
// lexeme is never empty, is valid UTF-8 and contains no space.
func Lexemes(s string) []string {
	if isASCII(s) {
		return lexemesOfASCII(strings.ToLower(s))
	}
	return lexemesOf(s)
}

// lexemesOf implements Lexemes for any text.
func lexemesOf(s string) []string {
	var lexemes []string
	chars := fold(s)
	for start := 0; start < len(chars); {
		kind := classify(chars[start])
		end := start + 1
		for end < len(chars) && continues(kind, chars, end) {
			end++
		}
		switch kind {
		case letter:
			if n := symbols(chars, start, end); n > 0 {
				end += n
				lexemes = append(lexemes, string(chars[start:end]))
			} else {
				lexemes = appendWord(lexemes, string(chars[start:end]))
			}
		case digit:
			lexemes = append(lexemes, string(chars[start:end]))
		case paired:
			lexemes = appendPairs(lexemes, chars[start:end])
		case separator:
			if isDotNet(chars, start) {
				end = start + len(dotNet)
				lexemes = append(lexemes, dotNet)
			}
		}
		start = end
	}
	return lexemes
}

// lexemesOfASCII is a faster lexemesOf for ASCII text, which needs no folding.
func lexemesOfASCII(s string) []string {
	var lexemes []string
	chars := []byte(s)
	isLetter := func(i int) bool { return i < len(s) && 'a' <= s[i] && s[i] <= 'z' }
	isDigit := func(i int) bool { return i < len(s) && '0' <= s[i] && s[i] <= '9' }
	for start := 0; start < len(s); {
		end := start + 1
		switch {
		case isLetter(start):
			for isLetter(end) || end < len(s) && s[end] == '\'' && isLetter(end+1) {
				end++
			}
			if n := symbols(chars, start, end); n > 0 {
				end += n
				lexemes = append(lexemes, s[start:end])
			} else {
				lexemes = appendWord(lexemes, s[start:end])
			}
		case isDigit(start):
			for isDigit(end) {
				end++
			}
			lexemes = append(lexemes, s[start:end])
		case isDotNet(chars, start):
			end = start + len(dotNet)
			lexemes = append(lexemes, dotNet)
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

// dotNet is the one name that begins with a symbol.
const dotNet = ".net"

// isDotNet reports whether dotNet stands at a place, as in ".NET 8" and "ASP.NET".
func isDotNet[T byte | rune](chars []T, start int) bool {
	end := start + len(dotNet)
	if chars[start] != '.' || end > len(chars) || end < len(chars) && isWord(chars[end]) {
		return false
	}
	return chars[start+1] == 'n' && chars[start+2] == 'e' && chars[start+3] == 't'
}

// symbols returns how many symbols after the word chars[start:end] belong to it, as they do in C++ and F#.
func symbols[T byte | rune](chars []T, start, end int) int {
	rest := chars[end:]
	switch {
	case end-start != 1 || len(rest) == 0:
		return 0
	case rest[0] == '#' && (len(rest) == 1 || !isWord(rest[1])):
		return 1
	case len(rest) >= 2 && rest[0] == '+' && rest[1] == '+' && (len(rest) == 2 || classify(rune(rest[2])) != letter):
		return 2
	}
	return 0
}

func isWord[T byte | rune](char T) bool {
	kind := classify(rune(char))
	return kind == letter || kind == digit
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
