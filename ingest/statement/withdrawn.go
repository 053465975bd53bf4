package statement

import (
	"slices"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// OfWithdrawn returns what is forgotten with a memory of a turn that its client takes back: memories derived from it,
// the assistant's echoes in other turns, and memories that a consolidation made of the conversation. A statement that
// the user also makes elsewhere stays, with its echoes. isOfTurn chooses the memories of the turn; docs and the
// Statement are those of Of.
func OfWithdrawn(m memory.Memory, isOfTurn func(id string) bool, docs []db.Document) ([]Found, Statement) {
	c := closureOf(m, docs, isOfTurn)
	switch {
	case m.Type.IsDerived():
	case m.Type != memory.TypeMessage:
		c.stateAlone(m.Content)
	case !isAssistant(m.Speaker):
		for _, sentence := range text.Sentences(m.Content) {
			c.stateAlone(sentence)
		}
	}
	if len(c.statements) > 0 {
		c.repeatedByOthers()
	}
	c.derived(m)
	return c.found, Statement{c}
}

// stateAlone adds a wording of the statement, unless a user states it elsewhere.
func (c *closure) stateAlone(content string) {
	w := wordsOf(content)
	states := func(sentence string) bool { return w.in(wordsOf(sentence)) >= restated }
	for _, d := range c.docs {
		isUsers := !d.Type.IsDerived() && !c.isOfTalk(d) && !(d.Type == memory.TypeMessage && isAssistant(d.Speaker))
		if isUsers && w.mayBeIn(d.Lexemes) && slices.ContainsFunc(text.Sentences(d.Content), states) {
			return
		}
	}
	c.state(content)
}

// repeatedByOthers finds repetitions of the statement that are not the user's own.
func (c *closure) repeatedByOthers() {
	c.restated()
	c.found = slices.DeleteFunc(c.found, func(f Found) bool {
		i := slices.IndexFunc(c.docs, func(d db.Document) bool { return d.ID == f.ID })
		isUsers := f.Why == Restates && !c.isOfTalk(c.docs[i])
		if isUsers {
			delete(c.known, f.ID)
		}
		return isUsers
	})
}
