// Package text breaks human language into the units that are counted and compared:
//
//	text -> NFKC, lower case -> words | CJK runs -> Lexemes -> Join -> stored
//	text -> Pieces -> Tokens, of an encoding;  text -> CountTokens, IsChinese
//
// Lexemes feed the lexical ranking, the built-in embedder and the rules; two
// texts match where they share a lexeme. Everything here is a pure function.
package text

import (
	"strings"
	"unicode"
)

// separator stands between stored lexemes; no lexeme holds it.
const separator = " "

// Join puts lexemes into the form in which they are stored.
func Join(lexemes []string) string { return strings.Join(lexemes, separator) }

// Split undoes Join. The empty string holds no lexemes.
func Split(joined string) []string {
	if joined == "" {
		return nil
	}
	return strings.Split(joined, separator)
}

// IsChinese reports whether s is to be answered in Chinese: it has more Han
// characters than Latin words (each counts one), and no more kana than Han.
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
