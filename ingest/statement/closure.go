package statement

import (
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// Why says how a memory that is found belongs to the statement of another one.
type Why string

// The ways to belong.
const (
	Source   Why = "source"   // a message that the fact was taken from
	Restates Why = "restates" // it states the same, or was taken from the message
	Echoes   Why = "echoes"   // the assistant repeats it
	Derived  Why = "derived"  // it was derived from one of these, such as a summary
	Said     Why = "said"     // it was said in the turn that is withdrawn
	Replaced Why = "replaced" // a memory of that turn superseded it, or was merged into it
	Answers  Why = "answers"  // a message that answers one of these, and is kept with what it was asked
)

// Found is a memory that states the statement, or was derived from one that does.
type Found struct {
	ID   string
	Left string // of a message: what it says besides; "": nothing
	Why  Why

	Taken []string // texts of the message that are not in Left
}

// closure holds the memories that state the same as a memory.
type closure struct {
	docs  []db.Document
	found []Found
	known map[string]bool // ids of found and of the memory itself

	statements []words              // in all wordings
	names      words                // of the statements
	marks      words                // of the statements; see marksIn
	turns      map[turn]bool        // of the messages that state it
	own        words                // names and marks that only the statement has; see ownWords
	talks      map[string]time.Time // when the statement was first made in a conversation, by the conversation's id
	agentID    string               // of the memory
	turnID     string               // of the turn that the memory was taken from, if the turn left no message
	message    string               // id of the memory, if it is a message
}

// Of returns the memories that state the same as a memory. `sources` are the memories that this memory was derived
// from, in any status, and docs are its owner's active memories. Of leaves out memories of other agents. The Statement
// recognises in the log what the memory and the found memories state.
func Of(m memory.Memory, sources []memory.Memory, docs []db.Document) ([]Found, Statement) {
	c := closureOf(m, docs, func(id string) bool { return id == m.ID })
	switch {
	case m.Type.IsDerived(): // it states many things, which others go on to state
	case m.Type == memory.TypeMessage:
		c.ofMessage(m)
	default:
		c.ofFact(m, sources)
	}
	c.derived(m)
	return c.found, Statement{c}
}

// closureOf returns the closure of a memory among its owner's active memories. It leaves out the memories for which
// isKnown is true, those of other persons, and passages of documents.
func closureOf(m memory.Memory, docs []db.Document, isKnown func(id string) bool) *closure {
	c := &closure{known: map[string]bool{m.ID: true}, turns: map[turn]bool{}, names: words{}, agentID: m.AgentID}
	c.marks = words{}
	c.talks = map[string]time.Time{m.ConversationID: m.CreatedAt}
	if m.IsPassage() {
		return c // it says nothing about the user, and is not repeated
	}
	for _, d := range docs {
		if isPassage := d.Type == memory.TypeMessage && d.Speaker == memory.SpeakerDocument; isPassage {
			continue
		}
		if !isKnown(d.ID) && c.mayKnow(d.AgentID) && !memory.SpeakersDiffer(d.Speaker, m.Speaker) {
			c.docs = append(c.docs, d)
		}
	}
	return c
}

// mayKnow reports whether an agent's memories and turns may state the statement.
func (c *closure) mayKnow(agentID string) bool {
	return agentID == c.agentID || agentID == "" || c.agentID == ""
}

func (c *closure) add(f Found) {
	if !c.known[f.ID] {
		c.known[f.ID] = true
		c.found = append(c.found, f)
	}
}

// state adds a wording of the statement, and its clauses, since a text that repeats a clause repeats a part of it.
func (c *closure) state(content string) {
	c.statements = append(c.statements, wordsOf(content))
	if parts := clauses(content); len(parts) > 1 {
		for _, clause := range parts {
			if w := wordsOf(clause); len(w) >= minWords {
				c.statements = append(c.statements, w)
			}
		}
	}
	for name := range namesIn(content) {
		c.names[name] = true
	}
	for mark := range marksIn(content) {
		c.marks[mark] = true
	}
}

// ofMessage finds the facts that were taken from a message, and what repeats these facts, or the message if it has no
// facts.
func (c *closure) ofMessage(m memory.Memory) {
	c.message = m.ID
	isMessage := func(id string) bool { return id == m.ID }
	for _, d := range c.docs {
		if !isFact(d) || !slices.Contains(d.DerivedFrom, m.ID) {
			continue
		}
		switch {
		case !slices.ContainsFunc(d.DerivedFrom, not(isMessage)):
			c.add(Found{ID: d.ID, Why: Restates})
			c.state(d.Content)
		case States(m.Content, d.Content): // else the message has lost it
			c.state(d.Content)
		}
	}
	if isAssistant(m.Speaker) {
		return
	}
	c.turns[turn{m.ConversationID, m.CreatedAt.UnixMicro()}] = true
	if len(c.statements) == 0 {
		for _, sentence := range text.Sentences(m.Content) {
			c.state(sentence)
		}
	}
	c.restated()
}

// ofFact finds the messages that a fact was taken from, other facts of these messages that state the same, and what
// repeats the fact.
func (c *closure) ofFact(m memory.Memory, sources []memory.Memory) {
	fact := wordsOf(m.Content)
	c.state(m.Content)
	isMessage := func(s memory.Memory) bool { return s.Type == memory.TypeMessage }
	messages := memory.IDs(slices.DeleteFunc(slices.Clone(sources), not(isMessage)))
	isSource := func(id string) bool { return slices.Contains(messages, id) }
	if len(messages) == 0 {
		c.turnID = m.SourceTurnID
	}
	var others []words
	for _, d := range c.docs {
		if !isFact(d) {
			continue
		}
		isOfSource := slices.ContainsFunc(d.DerivedFrom, isSource)
		if !isOfSource && !fact.mayBeIn(d.Lexemes) {
			continue
		}
		w := wordsOf(d.Content)
		switch {
		case !isOfSource:
			if w.in(fact) == 1 && fact.in(w) == 1 {
				c.add(Found{ID: d.ID, Why: Restates})
			}
		case !same(w, fact):
			others = append(others, w)
		case !slices.ContainsFunc(d.DerivedFrom, not(isSource)):
			c.add(Found{ID: d.ID, Why: Restates})
			c.state(d.Content)
		}
	}
	facts := slices.Clip(c.statements)
	for _, s := range sources {
		hasLost := s.Status == memory.Forgotten && !s.Faded && !States(s.Content, m.Content)
		if !isMessage(s) || hasLost { // what is left of it states something else
			continue
		}
		left, taken := without(s.Content, facts, others)
		c.add(Found{ID: s.ID, Left: left, Why: Source, Taken: taken})
		for _, sentence := range taken {
			c.state(sentence)
		}
		c.begin(s.ConversationID, s.CreatedAt)
		if !isAssistant(s.Speaker) {
			c.turns[turn{s.ConversationID, s.CreatedAt.UnixMicro()}] = true
		}
	}
	c.restated()
}

// restated finds what repeats the statement: in the assistant's answer, sentences that allude to it; in other messages
// of the assistant, sentences that have it; in the user's messages, sentences that say nothing else; and memories that
// were made of the whole conversation.
func (c *closure) restated() {
	answers := c.answers()
	c.own = c.ownWords()
	for _, d := range c.docs {
		if c.known[d.ID] {
			continue
		}
		why, least := Restates, 1
		ofTurn, ofTalk := answers[d.ID] || c.turns[turn{d.ConversationID, d.CreatedAt.UnixMicro()}], c.isOfTalk(d)
		switch {
		case ofTalk && d.Type != memory.TypeSummary:
			w := wordsOf(d.Content)
			isPart := func(o words) bool { return min(len(w), len(o)) >= minWords && max(w.in(o), o.in(w)) == 1 }
			if slices.ContainsFunc(c.statements, isPart) {
				c.add(Found{ID: d.ID, Why: Restates})
			}
			continue
		case ofTalk:
			why = Derived
		case d.Type != memory.TypeMessage:
			continue
		case isAssistant(d.Speaker):
			why, least = Echoes, minWords // a single word is a remark, such as "Noted."
		}
		near := c.nearnessOf(d.Speaker, d.ConversationID, d.CreatedAt)
		if ofTalk || why == Echoes && ofTurn {
			near = answering
		}
		if near != answering && !c.mayRepeat(d) && (near == unrelated || !c.mayTakeUp(d)) {
			continue
		}
		if left, taken := echoed(d.Content, least, c.repeats(why, near)); len(taken) > 0 {
			c.add(Found{ID: d.ID, Left: left, Why: why, Taken: taken})
		}
	}
	c.unstated()
}

// unstated finds the facts that no message from which they were taken states any more. If a fact has the
// words of the statement, only a message with a sentence that takes up the fact's words still states it: another
// message may have repeated what was recalled, which is not kept.
func (c *closure) unstated() {
	taken := map[string][]string{} // by message
	for _, f := range c.found {
		taken[f.ID] = f.Taken
	}
	for _, d := range c.docs {
		if !isFact(d) || c.known[d.ID] {
			continue
		}
		w := wordsOf(d.Content)
		isLost := func(id string) bool {
			states := func(sentence string) bool { return same(wordsOf(sentence), w) }
			return id == c.message || slices.ContainsFunc(taken[id], states)
		}
		isInItsWords := c.repeats(Echoes, unrelated)("", w)
		isLeft := func(other db.Document) bool {
			if !slices.Contains(d.DerivedFrom, other.ID) || isLost(other.ID) {
				return false
			}
			return !isInItsWords || slices.ContainsFunc(text.Sentences(other.Content), func(s string) bool {
				return wordsOf(s).takes([]words{w})
			})
		}
		if slices.ContainsFunc(d.DerivedFrom, isLost) && !slices.ContainsFunc(c.docs, isLeft) {
			c.add(Found{ID: d.ID, Why: Restates})
		}
	}
}

func isFact(d db.Document) bool { return d.Type != memory.TypeMessage && !d.Type.IsDerived() }

// isOfTalk reports whether a memory was made of a conversation in which the statement was made, and not of messages.
func (c *closure) isOfTalk(d db.Document) bool {
	return c.isTalk(d.ConversationID) && d.Type != memory.TypeMessage && len(d.DerivedFrom) == 0
}

// derived finds what was derived from the memory or from anything found: any memory from a fact, but only summaries
// from a message, since another fact of a message states something else.
func (c *closure) derived(m memory.Memory) {
	isMessage := map[string]bool{m.ID: m.Type == memory.TypeMessage}
	for _, f := range c.found {
		isMessage[f.ID] = f.Why == Source
	}
	for _, d := range c.docs {
		if c.known[d.ID] {
			isMessage[d.ID] = d.Type == memory.TypeMessage
		}
	}
	for before := -1; before < len(c.found); {
		before = len(c.found)
		for _, d := range c.docs {
			if d.Type == memory.TypeMessage || c.known[d.ID] {
				continue
			}
			if slices.ContainsFunc(d.DerivedFrom, func(id string) bool {
				return c.known[id] && (d.Type.IsDerived() || !isMessage[id])
			}) {
				c.add(Found{ID: d.ID, Why: Derived})
			}
		}
	}
}

// turn identifies the turn of a message: all messages of one have the same conversation and, unless they have times of
// their own, the same time.
type turn struct {
	conversationID string
	at             int64 // in microseconds
}

func not[T any](is func(T) bool) func(T) bool { return func(v T) bool { return !is(v) } }
