package grounding

import (
	"slices"

	"hippocampus/internal/text"
)

// referent is what a word such as "there" or "it" may refer to: the name that was last said.
type referent struct{ content []string }

var references = phrasesOf("reference")

// mostOfReference is the most terms of a clause in addition to the word that refers to something.
const mostOfReference = 3

// read makes the last name or place of a sentence the referent.
func (r *referent) read(sentence string) {
	names := slices.Concat(namesIn(sentence), chinesePlacesIn(sentence))
	if len(names) > 0 {
		r.content = text.Lexemes(names[len(names)-1])
	}
}

// resolved returns the clauses that refer to the name, each with the name added.
func (r *referent) resolved(clauses []clause) (resolved []clause) {
	for _, c := range clauses {
		said := plain(c.words)
		if len(r.content) == 0 || len(c.content) > mostOfReference || !references.has(tokensOf(said), hanOf(said)) {
			continue
		}
		c.content = slices.Concat(c.content, r.content)
		resolved = append(resolved, c)
	}
	return resolved
}
