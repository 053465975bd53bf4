// Package function removes the words of a query that ask and connect without naming anything:
//
//	"Où est-ce que je travaille ?" -> "travaille"
//	"我在哪里工作？"                -> "我在", "工作"
//
// What a query names then decides how well a memory covers it. The stop words of English are no lexemes anyway, and the
// nouns of German, whose capitals make names of them, decide by themselves.
package function

import (
	_ "embed"
	"math/bits"
	"strings"
	"sync"
	"unicode"

	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/text"
)

//go:embed words.txt
var list string

// languages is a set of languages, a bit for each line of words.txt.
type languages uint16

// The first languages, whose words are not removed.
const (
	english languages = 1 << iota
	german
)

// leastWords is how many different function words of a language with Latin letters a query in it has at least.
const leastWords = 2

// words has the languages of each function word.
var words = sync.OnceValue(func() map[string]languages {
	all, language := map[string]languages{}, english
	for line := range strings.Lines(list) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		for _, word := range strings.Fields(line)[1:] {
			all[word] |= language
		}
		language <<= 1
	}
	return all
})

// unspaced are the function words of languages without spaces. As parts of pairs of characters they would match by
// accident, so a query is cut at them.
var unspaced = lazyregexp.New(`什么时候|为什么|什么样|什么|怎么样|怎么|怎样|哪里|哪儿|哪个|哪些|哪位|哪|` +
	`多少|多久|多大|是不是|有没有|是谁|谁|吗|呢|吧|几|的|了|是|请问|` +
	`เมื่อไหร่|เมื่อไร|ที่ไหน|เท่าไหร่|เท่าไร|อย่างไร|ยังไง|ทำไม|อะไร|หรือเปล่า|หรือไม่|ใคร|ไหน|ไหม|กี่|ดิฉัน|ฉัน|ผม|ของ`)

// Without returns a query without its function words.
func Without(query string) string {
	if strings.ContainsFunc(query, text.IsUnspaced) {
		query = unspaced.ReplaceAllString(query, " ")
	}
	language := languageOf(query)
	if language&^(english|german) == 0 {
		return query
	}
	var left strings.Builder
	end := 0
	for word := range strings.FieldsFuncSeq(query, isBetween) {
		start := end + strings.Index(query[end:], word)
		left.WriteString(query[end:start])
		end = start + len(word)
		if !isFunction(word, language) {
			left.WriteString(word)
		}
	}
	left.WriteString(query[end:])
	return left.String()
}

// languageOf returns the language of most function words of a query, 0 if it is not clear.
func languageOf(query string) (language languages) {
	var counts [16]int // by bit
	seen := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(query), isBetween) {
		for part := range strings.FieldsFuncSeq(word, isApostrophe) {
			known := words()[part]
			if known == 0 || seen[part] {
				continue
			}
			seen[part] = true
			for ; known != 0; known &= known - 1 {
				counts[bits.TrailingZeros16(uint16(known))]++
			}
		}
	}
	best := 0
	for i, n := range counts {
		if n > counts[best] {
			best = i
		}
	}
	isLatin := strings.ContainsFunc(query, func(r rune) bool { return unicode.Is(unicode.Latin, r) })
	if counts[best] == 0 || isLatin && counts[best] < leastWords {
		return 0
	}
	return 1 << best
}

// IsForeign reports whether a query is in a language that is unlike English, German and Chinese, as far as its function
// words and its script show. Languages with Latin letters that words.txt lacks do not show.
func IsForeign(query string) bool {
	latin, others := 0, 0
	for _, r := range query {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			return false
		case r == '¿':
			return true
		case unicode.Is(unicode.Latin, r):
			latin++
		case unicode.IsLetter(r):
			others++
		}
	}
	return others > latin || languageOf(query)&^(english|german) != 0
}

// IsGerman reports whether most function words of a query are German, as in "Was mag meine Frau?".
func IsGerman(query string) bool { return languageOf(query) == german }

// IsUnclear reports whether the function words of a text do not show its language.
func IsUnclear(s string) bool { return languageOf(s) == 0 }

// Is reports whether a word is a function word of a language with spaces.
func Is(word string) bool { return words()[strings.ToLower(word)] != 0 }

// isFunction reports whether a word, which may have apostrophes ("qu'est"), consists of function words of a language.
func isFunction(word string, language languages) bool {
	for part := range strings.FieldsFuncSeq(strings.ToLower(word), isApostrophe) {
		if words()[part]&language == 0 {
			return false
		}
	}
	return true
}

func isApostrophe(r rune) bool { return r == '\'' || r == '’' }

// isBetween reports whether a character stands between words.
func isBetween(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && !isApostrophe(r)
}
