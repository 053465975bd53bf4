package grounding

import (
	"cmp"
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
		a.read(line.Text, &reference)
		if line.Assistant && i+1 < len(lines) && !lines[i+1].Assistant {
			_, answered := taken(line.Text, lines[i+1].Text, ofAccounts)
			a.clauses = append(a.clauses, answered...)
		}
	}
	return a
}

// read adds what a line states. reference is the name that was last said before it.
func (a *Account) read(line string, reference *referent) {
	for _, l := range text.Lexemes(line) {
		a.known[l] = true
	}
	for _, sentence := range text.Sentences(line) {
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
}

// Opposes returns what is wrong with a text about the talk that says the opposite of what was said, as in `says the
// opposite of "I never swim"`; "" if it does not, or if something else that was said agrees with it.
func (a Account) Opposes(about string) string {
	if opposite := a.opposite(about, clausesOf(about, ofAccounts)); opposite != "" {
		return "says the opposite of " + strconv.Quote(opposite)
	}
	return ""
}

// opposite returns the words whose opposite a text about the talk says; "" if it says no opposite. clauses are those of
// the text.
func (a Account) opposite(about string, clauses []clause) string {
	opposite := contradicted(a.clauses, clauses, nameOf(about), clause.hasAll)
	for _, c := range clauses {
		if opposite == "" && !c.unclear {
			opposite = c.deniedBy(a.clauses, clauses, func(said clause, terms []string) bool {
				return a.contains(c, said, terms)
			})
			opposite = cmp.Or(opposite, a.wished(c))
		}
	}
	return opposite
}

// onlyWished is opposite for a wish, a plan, a possibility or a condition that the text makes a fact of.
func (a Account) onlyWished(about string) string {
	if tokens := tokensOf(plain(about)); former.has(tokens, about) || conditions.has(tokens, about) {
		return ""
	}
	clauses := clausesOf(about, ofAccounts)
	for _, c := range clauses {
		if c.modal || c.denied || c.isLiking() {
			return ""
		}
	}
	words := a.opposite(about, clauses)
	isOwned := having.MatchString(about)
	for _, said := range a.clauses {
		if said.modal && said.words == words && !(isOwned && said.presupposes()) {
			return words
		}
	}
	return ""
}

// wished returns the words that wish, plan or allow for what a clause says to be so: what someone is to have, to do or
// to get. It returns "" if other words state it.
func (a Account) wished(c clause) (against string) {
	what := without(c.content, acquired)
	if c.modal || c.denied || len(what) == 0 || c.isLiking() {
		return ""
	}
	for _, said := range a.clauses {
		has := without(said.content, acquired)
		switch {
		case len(has) == 0 || !(covers(has, what) && len(has) <= 2*len(what)) && !(len(has) > 1 && covers(what, has)):
		case !said.modal:
			return ""
		case !said.denied && !(said.planned && c.ahead) && !said.presupposes():
			against = said.words
		}
	}
	return against
}

// presupposes reports whether a clause wishes something for what is there: "the dog", or what was formerly so.
func (c clause) presupposes() bool {
	tokens := tokensOf(plain(c.words))
	return definite.has(tokens, "") && !indefinite.has(tokens, "") || former.has(tokens, c.words)
}

// isLiking reports whether a clause says that someone likes something.
func (c clause) isLiking() bool { return liking.has(tokensOf(plain(c.words)), c.words) }

// acquired are the lexemes of verbs by which a wish and a fact of the same thing differ.
var acquired = text.Lexemes(strings.Join(cues["acquire"], " "))

// having matches what says that something is there.
var having = lazyregexp.New(`\b(?:has|have|owns?)\b`)

var (
	liking     = phrasesOf("liking")
	former     = phrasesOf("former")
	definite   = phrasesOf("definite")
	indefinite = phrasesOf("indefinite")
)

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
