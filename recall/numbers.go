package recall

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hippocampus/internal/text"
)

// number is a word of a query that has a digit, such as "412", "B14", "08:15" or "INV-2023-053".
type number struct {
	lexemes []string
	code    bool // it names one thing, unlike an amount, a date or a time of the day
}

// What a memory gains in the fused value if it has all numbers of a query.
const (
	codeLift   = 0.25
	numberLift = 0.1
)

// numbersIn returns the distinct words of a query that have a digit. Hyphens and similar marks join letters and
// digits to one word if no space is between them.
func numbersIn(query string) []number {
	if !strings.ContainsFunc(query, unicode.IsDigit) {
		return nil // most queries end here
	}
	var numbers []number
	add := func(word string) {
		word = strings.TrimRightFunc(word, notLetterOrDigit)
		if !strings.ContainsFunc(word, unicode.IsDigit) {
			return
		}
		lexemes := text.Lexemes(word)
		if !slices.ContainsFunc(numbers, func(n number) bool { return slices.Equal(n.lexemes, lexemes) }) {
			numbers = append(numbers, number{lexemes, isCode(word)})
		}
	}
	start := -1
	for i, r := range query {
		inside := unicode.IsDigit(r) || unicode.Is(unicode.Latin, r)
		switch {
		case inside && start < 0:
			start = i
		case !inside && start >= 0 && !strings.ContainsRune("-_./:#", r):
			add(query[start:i])
			start = -1
		}
	}
	if start >= 0 {
		add(query[start:])
	}
	return numbers
}

// isCode reports whether a word with a digit names one thing: it begins with a letter, or with at least four digits
// that are not a year.
func isCode(word string) bool {
	rest := strings.TrimLeftFunc(word, unicode.IsDigit)
	digits := word[:len(word)-len(rest)]
	switch utf8.RuneCountInString(digits) {
	case 1, 2, 3:
		return false
	case 4:
		return !strings.HasPrefix(digits, "19") && !strings.HasPrefix(digits, "20")
	}
	return true
}

// numberLifts returns by how much the numbers of a query lift each document, by place; nil for a query without
// numbers. A document has a number if it has all lexemes of it.
func numberLifts(numbers []number, x *index, found postings) []float64 {
	if len(numbers) == 0 {
		return nil
	}
	lifts := make([]float64, len(x.docs))
	share := 1 / float64(len(numbers))
	for _, n := range numbers {
		lift := numberLift
		if n.code {
			lift = codeLift
		}
		for _, p := range found[n.lexemes[0]] {
			if !slices.ContainsFunc(n.lexemes[1:], func(l string) bool { return !contains(found[l], p.doc) }) {
				lifts[p.doc] += lift * share
			}
		}
	}
	return lifts
}

// unknownCodes is how many codes a query has, and how many of these no memory has.
func unknownCodes(numbers []number, found postings) (codes, unknown float64) {
	for _, n := range numbers {
		if !n.code {
			continue
		}
		codes++
		if slices.ContainsFunc(n.lexemes, func(l string) bool { return len(found[l]) == 0 }) {
			unknown++
		}
	}
	return codes, unknown
}
