// Package statement finds the memories that state the same as a memory:
//
//	fact    -> messages that it was taken from -> their sentences that state it
//	message -> facts that were taken from it alone
//	either  -> the assistant's echoes, the same words said elsewhere, what was derived from any of these
//
// It decides by provenance first: the sources of a memory are known. Words decide from which part of a message a fact
// was taken, and which sentences echo it.
package statement

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// Shares of lexemes.
const (
	restated = 0.75 // of a statement, in a sentence that restates it
	alludes  = 0.5  // share of a statement, or of a sentence, in an answer to the statement or in the message itself
)

// minWords is the fewest lexemes of a statement that is recognised elsewhere by its words.
const minWords = 2

// theUser names the user in facts, where messages say "I".
var theUser = lazyregexp.New(`(?i)\b(?:the )?user(?:['’]s)?\b|用户`)

func withoutUser(content string) string {
	if !strings.Contains(content, "ser") && !strings.Contains(content, "SER") && !strings.Contains(content, "用户") {
		return content // the expression is slow
	}
	return theUser.ReplaceAllString(content, " ")
}

type words map[string]bool

func wordsOf(content string) words {
	w := words{}
	for _, lexeme := range text.Lexemes(withoutUser(content)) {
		w[lexeme] = true
	}
	return w
}

// namesIn returns the lexemes of names and numbers in a text, as far as capitals show them.
func namesIn(content string) words {
	names := words{}
	for i, word := range strings.Fields(withoutUser(content)) {
		first, _ := utf8.DecodeRuneInString(strings.TrimLeft(word, `"'(“‘«`))
		if unicode.IsDigit(first) || i > 0 && unicode.IsUpper(first) {
			for _, lexeme := range text.Lexemes(word) {
				names[lexeme] = true
			}
		}
	}
	return names
}

// in returns the share of the words that other has too, 0 without words.
func (w words) in(other words) float64 {
	n := 0
	for word := range w {
		if other[word] {
			n++
		}
	}
	return float64(n) / float64(max(1, len(w)))
}

// mayBeIn reports whether joined lexemes may have nearly all of the words. A part of a lexeme counts as the word.
func (w words) mayBeIn(lexemes string) bool {
	missing := 0
	for word := range w {
		if !strings.Contains(lexemes, word) {
			missing++
		}
	}
	return float64(len(w)-missing) >= restated*float64(len(w)) && len(w) > 0
}

// same reports whether two facts state the same: one of them has nearly all words of the other.
func same(a, b words) bool {
	return len(a) > 0 && len(b) > 0 && max(a.in(b), b.in(a)) >= restated
}

// clauseEnds match the places at which a sentence may go on with another statement.
var clauseEnds = lazyregexp.New(`[,，、;；:：]\s*|\s(?:and|but|und|aber|et|mais|y|pero|e|mas)\s`)

// clauses divides a sentence into parts, which joined are the sentence.
func clauses(sentence string) []string {
	var parts []string
	begin := 0
	for _, end := range clauseEnds.FindAllStringIndex(sentence, -1) {
		parts, begin = append(parts, sentence[begin:end[1]]), end[1]
	}
	return append(parts, sentence[begin:])
}

// without returns a message's content without the sentences that any of the facts was taken from, and what was taken
// out. A sentence stays if it states one of the other facts and only alludes to the facts. If it states both, its
// clauses that state one of the others stay. If no sentence has words of the facts, as when a model states them in
// another language, nothing is left.
func without(content string, facts, others []words) (left string, taken []string) {
	sentences := text.Sentences(content)
	takenFrom := make([]bool, len(sentences))
	most, best := 0.0, -1
	for i, sentence := range sentences {
		s := wordsOf(sentence)
		takenFrom[i] = s.takes(facts) && (s.states(facts) || !s.states(others))
		for _, f := range facts {
			if share := f.in(s); share > most {
				most, best = share, i
			}
		}
	}
	switch {
	case best < 0:
		return "", sentences
	case !slices.Contains(takenFrom, true):
		takenFrom[best] = true
	}
	var kept strings.Builder
	for i, sentence := range sentences {
		if !takenFrom[i] {
			kept.WriteString(sentence)
			continue
		}
		gone := ""
		for _, clause := range clauses(sentence) {
			c := wordsOf(clause)
			statesOther := func(o words) bool { return c.in(o) >= restated }
			if c.takes(facts) || len(c) == 0 || !slices.ContainsFunc(others, statesOther) {
				gone += clause
				continue
			}
			kept.WriteString(clause)
			taken, gone = appendText(taken, gone), ""
		}
		taken = appendText(taken, gone)
	}
	return tidy(kept.String(), 1), taken
}

// Without returns a message's content without the sentences that any of the facts was taken from; "": nothing is left.
func Without(content string, facts, others []string) string {
	var of, besides []words
	for _, f := range facts {
		of = append(of, wordsOf(f))
	}
	for _, o := range others {
		besides = append(besides, wordsOf(o))
	}
	left, _ := without(content, of, besides)
	return left
}

// states reports whether a sentence has nearly all words of one of the facts.
func (w words) states(facts []words) bool {
	return slices.ContainsFunc(facts, func(f words) bool { return len(f) > 0 && f.in(w) >= restated })
}

// takes reports whether one of the facts was taken from a sentence or clause with these words.
func (w words) takes(facts []words) bool {
	return slices.ContainsFunc(facts, func(f words) bool {
		return len(w) > 0 && (w.in(f) >= alludes || f.in(w) >= restated)
	})
}

// appendText appends a text without the space around it, unless it is blank.
func appendText(texts []string, s string) []string {
	if s = strings.TrimSpace(s); s != "" {
		texts = append(texts, s)
	}
	return texts
}

// echoed returns a message's content without the sentences that isEcho chooses, and these sentences. The content is ""
// if fewer than least lexemes remain.
func echoed(content string, least int, isEcho func(sentence string, s words) bool) (left string, taken []string) {
	var kept strings.Builder
	for _, sentence := range text.Sentences(content) {
		if isEcho(sentence, wordsOf(sentence)) {
			taken = appendText(taken, sentence)
			continue
		}
		kept.WriteString(sentence)
	}
	return tidy(kept.String(), least), taken
}

// tidy returns the rest of a message without space around it, "" if it has fewer lexemes than least.
func tidy(left string, least int) string {
	left = strings.TrimSpace(left)
	if len(text.Lexemes(left)) < least {
		return ""
	}
	return left
}

// isAssistant reports whether the assistant spoke, unless the client gave it a name.
func isAssistant(speaker string) bool { return speaker == memory.RoleAssistant }
