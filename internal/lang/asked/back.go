package asked

import (
	"strings"
	"unicode/utf8"

	"hippocampus/internal/lang/function"
	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/text"
)

// back matches words that refer to what was said before, or continue it.
var back = lazyregexp.New(`\b(?:he|she|it|they|him|her|hers|his|its|them|their|theirs|that|those|there|ones?|else)\b|` +
	`^(?:and|but|or|so|ok(?:ay)?|what about|how about|why|how come)\b|` +
	`[他她它]|那|这|呢[？?]?$|^(?:还有|为什么|为啥|然后)`)

// Reference is how surely a query refers to what was said before it.
type Reference int

// The references.
const (
	NoReference Reference = iota
	Perhaps               // it is short, and may lack its subject: 班主任是谁？
	Surely                // a word refers back: "What does she teach?", "And the drill?"
)

const (
	fewTerms   = 2 // lexemes of an English query that may lack its subject
	shortInHan = 8 // characters of such a query in Chinese
)

var firstPerson = lazyregexp.New(`\b(?:i|my|me|mine|we|our|us)\b|我`)

// RefersBack returns whether a query refers to what was said before it.
func RefersBack(query string) Reference {
	query = strings.ToLower(strings.TrimSpace(query))
	isShort := func() bool {
		if strings.ContainsFunc(query, text.IsUnspaced) {
			return utf8.RuneCountInString(query) <= shortInHan
		}
		return len(text.Lexemes(function.Without(query))) < fewTerms
	}
	switch {
	case back.MatchString(query):
		return Surely
	case !firstPerson.MatchString(query) && isShort():
		return Perhaps
	}
	return NoReference
}
