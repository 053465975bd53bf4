package statement

import (
	"slices"
	"strings"

	"hippocampus/db"
)

// repeats returns a function that chooses the sentences of a message that repeat the statement; why says whether the
// message echoes or restates it. The nearer the message is to the statement, the less of it a sentence that alludes to
// it must have; it does not allude to it if it states another fact.
func (c *closure) repeats(why Why, near nearness) func(sentence string, s words) bool {
	return func(sentence string, s words) bool {
		has := func(w words) bool {
			return len(w) >= minWords && w.in(s) >= restated && (why == Echoes || s.in(w) >= restated)
		}
		alludesTo := func(w words) bool { return max(w.in(s), s.in(w)) >= alludes }
		switch {
		case slices.ContainsFunc(c.statements, has), near == answering && c.names.in(s) > 0:
			return true
		case near == answering && (c.marks.in(s) > 0 || slices.ContainsFunc(c.statements, alludesTo)),
			c.takesUp(near, sentence, s):
			return !c.statesOther(s)
		}
		return false
	}
}

// statesOther reports whether a sentence states an active fact that is not found.
func (c *closure) statesOther(s words) bool {
	return slices.ContainsFunc(c.docs, func(d db.Document) bool {
		if !isFact(d) || c.known[d.ID] {
			return false
		}
		w := words{}
		for lexeme := range strings.FieldsSeq(d.Lexemes) {
			w[lexeme] = true
		}
		delete(w, "user")
		return len(w) >= minWords && w.in(s) >= restated
	})
}

// mayRepeat reports whether a document may have nearly all words of a statement. If not, it need not be divided into
// sentences.
func (c *closure) mayRepeat(d db.Document) bool {
	return slices.ContainsFunc(c.statements, func(w words) bool { return w.mayBeIn(d.Lexemes) })
}
