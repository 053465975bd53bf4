package recall

import (
	"regexp"
	"unicode/utf8"

	"hippocampus/internal/text"
)

// functionWords of Chinese ask and bind without naming anything. As parts of
// character pairs they would match by accident, so a query is cut at them;
// English has its stop words.
var functionWords = regexp.MustCompile(`什么时候|为什么|什么样|什么|怎么样|怎么|怎样|哪里|哪儿|哪个|哪些|哪位|哪|多少|多久|多大|是不是|有没有|是谁|谁|吗|呢|吧|几|的|了|是|请问`)

// ascii spares most queries what is about Chinese alone.
func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// terms are the distinct lexemes of a query, in order. One character of a
// script that is matched in pairs is none.
func terms(query string) []string {
	var list []string
	seen := map[string]bool{}
	if !ascii(query) {
		query = functionWords.ReplaceAllString(query, " ")
	}
	for _, lexeme := range text.Lexemes(query) {
		if r, n := utf8.DecodeRuneInString(lexeme); n == len(lexeme) && text.Paired(r) || seen[lexeme] {
			continue
		}
		seen[lexeme] = true
		list = append(list, lexeme)
	}
	return list
}
