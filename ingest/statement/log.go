package statement

import (
	"slices"

	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// Statement recognises a statement in the log of a conversation.
type Statement struct{ of *closure }

// Log is a part of the log of conversations.
type Log []line

// line is a message of a turn.
type line struct {
	turn      memory.Turn
	message   int // index
	sentences []string
	words     []words // of the sentences
}

// Span is a text in a message of a turn.
type Span struct {
	TurnID  string
	Message int // index
	Speaker string
	Text    string
}

// Read prepares turns for Statement.In.
func Read(turns []memory.Turn) Log {
	var log Log
	for _, t := range turns {
		for i, m := range t.Messages {
			l := line{turn: t, message: i, sentences: text.Sentences(m.Content)}
			for _, sentence := range l.sentences {
				l.words = append(l.words, wordsOf(sentence))
			}
			log = append(log, l)
		}
	}
	return log
}

// In returns the sentences of a log that state the statement. It leaves out the parts of messages that a memory keeps,
// which Of finds: it does not find a sentence of the user that says more, unless the fact was taken from a turn that
// left no message.
func (s Statement) In(log Log) []Span {
	var spans []Span
	for _, l := range log {
		if !s.of.mayKnow(l.turn.AgentID) {
			continue
		}
		m := l.turn.Messages[l.message]
		why := Echoes
		if m.Role == memory.RoleUser {
			why = Restates
		}
		isSource := s.of.turnID == l.turn.ID
		isOfTurn := isSource || s.of.isOfTurn(l.turn)
		near := s.of.nearnessOf(m.Role, l.turn.ConversationID, l.turn.SaidAt(l.message))
		if isOfTurn && m.Role == memory.RoleAssistant {
			near = answering
		}
		repeats := s.of.repeats(why, near)
		for i, w := range l.words {
			if repeats(l.sentences[i], w) || isSource && w.takes(s.of.statements) {
				for _, text := range appendText(nil, l.sentences[i]) {
					spans = append(spans, Span{
						TurnID: l.turn.ID, Message: l.message, Speaker: memory.SpeakerOf(m.Role, m.Name), Text: text,
					})
				}
			}
		}
	}
	return spans
}

// isOfTurn reports whether a message of a turn states the statement.
func (c *closure) isOfTurn(t memory.Turn) bool {
	for i := range t.Messages {
		if c.turns[turn{t.ConversationID, t.SaidAt(i).UnixMicro()}] {
			return true
		}
	}
	return false
}

// States reports whether a sentence of a text has nearly all words of a fact, or the fact has nearly all words of the
// sentence.
func States(content, fact string) bool {
	w := wordsOf(fact)
	return slices.ContainsFunc(text.Sentences(content), func(s string) bool { return same(wordsOf(s), w) })
}

// IsIn reports whether a text states a fact, or most of its words are the fact's.
func IsIn(fact, text string) bool { return wordsOf(text).takes([]words{wordsOf(fact)}) }

// SharesWord reports whether a sentence has one of the words of a fact.
func SharesWord(fact, sentence string) bool { return wordsOf(fact).in(wordsOf(sentence)) > 0 }
