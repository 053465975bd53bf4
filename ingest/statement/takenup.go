package statement

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"hippocampus/db"
	"hippocampus/internal/lang/times"
	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/memory"
)

// begin notes that the statement was made in a conversation.
func (c *closure) begin(conversationID string, at time.Time) {
	if since, known := c.talks[conversationID]; !known || at.Before(since) {
		c.talks[conversationID] = at
	}
}

// isTalk reports whether the statement was made in a conversation.
func (c *closure) isTalk(conversationID string) bool {
	_, known := c.talks[conversationID]
	return known && conversationID != ""
}

// nearness says how a sentence of the assistant may have come from the statement.
type nearness int

const (
	unrelated nearness = iota // it repeats the statement only if it has nearly all of its words
	since                     // said since the statement, in another conversation
	later                     // said since in the same conversation
	answering                 // in the answer to the statement, or in a summary of its conversation
)

// nearnessOf returns the nearness of a message that a speaker said.
func (c *closure) nearnessOf(speaker, conversationID string, at time.Time) nearness {
	first, ofTalk := c.talks[conversationID]
	switch {
	case !isAssistant(speaker):
		return unrelated
	case ofTalk && conversationID != "" && !at.Before(first):
		return later
	case !at.Before(c.first()):
		return since
	}
	return unrelated
}

// first returns when the statement was first made.
func (c *closure) first() (first time.Time) {
	for _, at := range c.talks {
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}

// sameOccasion is the time within which an answer follows a message, if the two have times of their own.
const sameOccasion = time.Hour

// answers returns the ids of the assistant's messages that follow a message which states the statement, up to the
// user's next one. Messages of one turn may have times of their own.
func (c *closure) answers() map[string]bool {
	var messages []db.Document
	for _, d := range c.docs {
		if d.Type == memory.TypeMessage && c.isTalk(d.ConversationID) {
			messages = append(messages, d)
		}
	}
	for t := range c.turns { // the memory itself is not among the documents
		messages = append(messages, db.Document{ConversationID: t.conversationID, CreatedAt: time.UnixMicro(t.at).UTC()})
	}
	slices.SortFunc(messages, func(a, b db.Document) int {
		return cmp.Or(cmp.Compare(a.ConversationID, b.ConversationID),
			a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	answers := map[string]bool{}
	var last db.Document // of the user
	for _, d := range messages {
		switch {
		case !isAssistant(d.Speaker):
			last = d
		case last.ConversationID == d.ConversationID && d.CreatedAt.Sub(last.CreatedAt) < sameOccasion:
			answers[d.ID] = c.turns[turn{last.ConversationID, last.CreatedAt.UnixMicro()}]
		}
	}
	return answers
}

// takesUp reports whether a sentence of the assistant takes up a word that only the statement has. In another
// conversation, the assistant may have used the word by chance, unless it is a name or the sentence addresses the user.
func (c *closure) takesUp(near nearness, sentence string, s words) bool {
	if near == unrelated {
		return false
	}
	for word := range c.own {
		if s[word] && (near > since || c.names[word] || addresses.MatchString(sentence)) {
			return true
		}
	}
	return false
}

// addresses matches sentences that address the user.
var addresses = lazyregexp.New(`(?i)\b(?:you|your|yours|du|dir|dich|dein\w*|ihnen|ihre\w*)\b|\bSie\b|[你您]`)

// noParts are Chinese numerals, pronouns and particles: a pair of characters with one of these is seldom a word that
// names something.
const noParts = "一二三四五六七八九十百千万两几不没的了是在有我你他她们这那个"

// ownWords returns the names and marks of the statement that no other memory has, except for what the assistant said
// since and what was made of the conversation: the assistant has taken them up from the statement.
func (c *closure) ownWords() words {
	own := words{}
	for mark := range c.marks {
		own[mark] = true
	}
	for name := range c.names {
		if !strings.ContainsFunc(name, unicode.IsDigit) { // the same number is often another thing
			own[name] = true
		}
	}
	for word := range own {
		if strings.ContainsAny(word, noParts) || isTime(word) {
			delete(own, word)
		}
	}
	left := map[string]string{}
	for _, f := range c.found {
		left[f.ID] = f.Left
	}
	for _, d := range c.docs {
		if len(own) == 0 {
			break
		}
		if c.known[d.ID] {
			own.remove(wordsOf(left[d.ID]))
			continue
		}
		if c.isOfTalk(d) || d.Type.IsDerived() ||
			d.Type == memory.TypeMessage && c.nearnessOf(d.Speaker, d.ConversationID, d.CreatedAt) > unrelated {
			continue
		}
		for word := range own {
			if hasLexeme(d, word) {
				delete(own, word)
			}
		}
	}
	return own
}

// isTime reports whether a lexeme names a day, a month or another time.
func isTime(lexeme string) bool {
	first, size := utf8.DecodeRuneInString(lexeme)
	return len(times.InStatement("in "+string(unicode.ToUpper(first))+lexeme[size:], time.Time{})) > 0
}

func hasLexeme(d db.Document, lexeme string) bool {
	return strings.Contains(d.Lexemes, lexeme) && slices.Contains(strings.Fields(d.Lexemes), lexeme)
}

// mayTakeUp reports whether a document may have a word that only the statement has. If not, it need not be divided into
// sentences.
func (c *closure) mayTakeUp(d db.Document) bool {
	for word := range c.own {
		if strings.Contains(d.Lexemes, word) {
			return true
		}
	}
	return false
}

func (w words) remove(others words) {
	for word := range others {
		delete(w, word)
	}
}
