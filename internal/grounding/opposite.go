package grounding

import (
	"slices"
	"strconv"
	"strings"

	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/text"
)

// Account holds the statements of a talk, by any speaker.
type Account struct {
	clauses []clause
	known   map[string]bool // the lexemes of all clauses, and of questions
}

// ReadAccount reads the lines of a talk, for several texts about it. A "yes" or "no" of the user to a question of the
// assistant states what was asked, or denies it.
func ReadAccount(lines ...Line) Account {
	a := Account{known: map[string]bool{}}
	var reference referent
	for i, line := range lines {
		for _, l := range text.Lexemes(line.Text) {
			a.known[l] = true
		}
		for _, sentence := range text.Sentences(line.Text) {
			clauses := clausesOf(sentence, ofAccounts)
			for _, c := range clauses {
				for _, l := range c.content { // words of forms.txt, which the line may not have
					a.known[l] = true
				}
			}
			if !strings.ContainsAny(sentence, "?？") { // a question affirms and denies nothing
				clauses = slices.DeleteFunc(clauses, clause.isFragment)
				a.clauses = append(a.clauses, clauses...)
				a.clauses = append(a.clauses, reference.resolved(clauses)...)
			}
			reference.read(sentence)
		}
		if line.Assistant && i+1 < len(lines) && !lines[i+1].Assistant {
			_, answered := taken(line.Text, lines[i+1].Text, ofAccounts)
			a.clauses = append(a.clauses, answered...)
		}
	}
	return a
}

// Opposes returns what is wrong with a text about the talk that says the opposite of what was said, as in `says the
// opposite of "I never swim"`; "" if it does not, or if something else that was said agrees with it.
func (a Account) Opposes(about string) string {
	clauses := clausesOf(about, ofAccounts)
	opposite := contradicted(a.clauses, clauses, nameOf(about), clause.hasAll)
	for _, c := range clauses {
		if opposite == "" && !c.unclear {
			opposite = c.deniedBy(a.clauses, clauses, func(said clause, terms []string) bool {
				return a.contains(c, said, terms)
			})
		}
	}
	if opposite == "" {
		return ""
	}
	return "says the opposite of " + strconv.Quote(opposite)
}

// contains reports whether a clause c about the talk says what a clause of the talk says, and adds little, such as when
// or with whom: at most two terms for each three of the other clause, or one for each three if c denies something,
// since the added terms may be what it denies. c may also have terms that occur elsewhere in the talk, such as the name
// of what "it" is, and any number of them if the two clauses agree.
func (a Account) contains(c, said clause, terms []string) bool {
	size := len(said.content)
	if size == 0 || !covers(terms, said.content) {
		return false
	}
	known, added := 0, 0
	for _, l := range without(terms, said.content) {
		if a.known[l] {
			known++
		} else {
			added++
		}
	}
	most, mostKnown := 2*size/3, 2*size+1
	switch {
	case c.denied == said.denied && c.modal == said.modal:
		mostKnown = len(terms)
	case c.denied:
		most, mostKnown = size/3, 1
	}
	if isHan(said.content[0]) && !c.denied {
		most++ // the pair of characters between the clause and what is added
	}
	if size == 1 && said.modal && !said.denied {
		mostKnown = 0
	}
	return added <= most && added+known <= max(most, mostKnown)
}

// hasAll reports whether the clause has all terms, and not too many others.
func (c clause) hasAll(terms []string) bool {
	return len(terms) > 0 && len(c.content) <= broad*len(terms) && covers(c.content, terms)
}

// isFragment reports whether a clause says only when, where or how something is, or who says it.
func (c clause) isFragment() bool {
	return len(c.content) <= 2 && fragment.MatchString(c.words) || howOften.MatchString(c.words)
}

// howOften matches a clause that is an answer to "how often" or "how long".
var howOften = lazyregexp.New(`(?i)^(?:\d+|every|once|twice|` + spelledWord + `)\b.*\b(?:times?|days?|nights?|` +
	`weeks?|months?|years?)(?: (?:a|each|per) \w+)?$`)

var fragment = lazyregexp.New(`(?i)^(?:after|around|about|in|at|by|until|since|from|with|for|of|on|to|before|` +
	`between) |(?:says?|said|thinks?)$`)

// covers reports whether terms have all others, or at least three of four if the others are Han.
func covers(terms, others []string) bool {
	missing := without(others, terms)
	return len(missing) == 0 || 4*len(missing) <= len(others) && isHan(missing[0])
}
