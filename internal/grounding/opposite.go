package grounding

import (
	"strconv"
	"strings"

	"hippocampus/internal/text"
)

// Account is what was stated in a talk, by any speaker.
type Account struct{ clauses []clause }

// ReadAccount reads the lines of a talk, for several texts about it. A "yes" or "no" of the user to a question of the
// assistant states what was asked, or denies it.
func ReadAccount(lines ...Line) (a Account) {
	for i, line := range lines {
		a.clauses = append(a.clauses, statedIn(line.Text)...)
		if line.Assistant && i+1 < len(lines) && !lines[i+1].Assistant {
			_, answered := taken(line.Text, lines[i+1].Text, unsure)
			a.clauses = append(a.clauses, answered...)
		}
	}
	return a
}

// Opposes returns what is wrong with a text about the talk that says the opposite of what was said, as in `says the
// opposite of "I never swim"`; "" if it does not, or if something else that was said agrees with it.
func (a Account) Opposes(about string) string {
	clauses := clausesOf(about, unsure)
	opposite := contradicted(a.clauses, clauses, nameOf(about))
	for _, c := range clauses {
		if opposite == "" && !c.unclear {
			opposite = c.deniedBy(a.clauses, clauses, c.contains)
		}
	}
	if opposite == "" {
		return ""
	}
	return "says the opposite of " + strconv.Quote(opposite)
}

// contains reports whether the clause says what another one says, and little besides, such as when or with whom: at
// most two terms for each three of the other one, or one if the clause denies something, which may be the rest of it.
func (c clause) contains(said clause, terms []string) bool {
	most := 2 * len(said.content) / 3
	if c.denied {
		most = len(said.content) / 3
	}
	if len(said.content) == 0 || len(terms)-len(said.content) > most {
		return false
	}
	return len(without(said.content, terms)) == 0
}

// statedIn returns the clauses of a line without its questions, which affirm and deny nothing.
func statedIn(line string) (clauses []clause) {
	for _, sentence := range text.Sentences(line) {
		if !strings.ContainsAny(sentence, "?？") {
			clauses = append(clauses, clausesOf(sentence, unsure)...)
		}
	}
	return clauses
}
