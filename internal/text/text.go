// Package text splits human language into the units that are counted and compared:
//
//	text -> NFKC, lower case -> words | CJK runs -> Lexemes -> Join -> stored
//	text -> Pieces -> Tokens, of an encoding;  text -> CountTokens, IsChinese
//
// Lexemes are the input of the lexical ranking, the built-in embedder and the
// rules; two texts match if they share a lexeme. All functions are pure.
package text

import (
	"strings"
	"unicode"
)

// joint separates stored lexemes; no lexeme contains it.
const joint = " "

// Join returns lexemes in the form in which they are stored.
func Join(lexemes []string) string { return strings.Join(lexemes, joint) }

// Split is the inverse of Join. The empty string has no lexemes.
func Split(joined string) []string {
	if joined == "" {
		return nil
	}
	return strings.Split(joined, joint)
}

// StripControls removes control characters other than line ends and tabs, and the characters that
// override the direction of the text around them (Unicode 16, 23.2, "Bidirectional Ordering Controls").
func StripControls(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return r
		case unicode.IsControl(r), '\u202a' <= r && r <= '\u202e', '\u2066' <= r && r <= '\u2069':
			return -1
		}
		return r
	}, s)
}

// IsChinese reports whether the answer to s should be in Chinese: s has more Han characters than Latin words, and at
// most as many kana as Han characters.
func IsChinese(s string) bool {
	var han, kana, words int
	inWord := false
	for _, r := range s {
		latin := unicode.Is(unicode.Latin, r)
		switch {
		case latin && !inWord:
			words++
		case unicode.Is(unicode.Han, r):
			han++
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			kana++
		}
		inWord = latin || inWord && (r == '\'' || r == '’')
	}
	return han > words && han >= kana
}
