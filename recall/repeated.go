package recall

import (
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// Messages of the assistant and memories made of a conversation repeat what the user stated, without a link to the
// statement, and a message of the user may state something else too. So their sentences are compared with superseded
// statements when their rows are read:
//
//	row of a message, summary, insight -> sentences -> those that state what was superseded since are cut
//	      -> nothing is left: former

// Shares of lexemes, as in package ingest/statement.
const (
	repeatsAll  = 0.75 // of a statement's words: a sentence that has so many repeats it
	mostlyThere = 0.5  // of a sentence's words, in an answer or a summary: if the statement has so many, they say the same
	leastWords  = 2    // least words of a statement that is looked for far from it, and of what is left of an answer
)

var aUser = xxhash.Sum64String("user") // how facts name the user, whom the assistant calls "you"

// superseded is a superseded statement that an answer may repeat.
type superseded struct {
	outdated
	words []uint64 // distinct, without those that name the user
}

// repetitions finds the sentences of rows that repeat superseded statements.
type repetitions struct {
	x     *index
	past  bool         // the query asks for the past
	known bool         // list was made
	list  []superseded // in the order of the index
	seen  map[string]bool

	dropped []string // ids of the memories that say nothing else
}

// repeatedIn returns a finder of repetitions for a query.
func repeatedIn(x *index, q Query) *repetitions {
	return &repetitions{x: x, past: q.IncludeFormer, seen: map[string]bool{}}
}

// apply cuts what repeats superseded statements out of the whole rows of candidates, and drops rows that say nothing
// else. For a query about the past, all rows stay whole, and those that say nothing else are marked as former.
func (p *repetitions) apply(rows map[string]row, list []scored) {
	if len(p.x.outdated) == 0 {
		return
	}
	for _, c := range list {
		m := rows[c.id].whole
		if m == nil || p.seen[c.id] || c.former != nil {
			continue
		}
		isOwn := p.x.hasFormer(c.doc) // it is former as a whole if it says nothing else; see fold
		if !isOwn && !p.x.mayRepeat(c.doc) {
			continue
		}
		p.seen[c.id] = true
		left, former := p.without(c.doc, m.Content)
		switch {
		case former == nil || isOwn && left == "":
		case p.past && left == "":
			c.former = former
		case p.past:
		case left == "":
			delete(rows, c.id)
			p.dropped = append(p.dropped, c.id)
		default:
			m.Content = left
		}
	}
}

// mayRepeat reports whether a document is the assistant's, or was made of a conversation or of other memories.
func (x *index) mayRepeat(doc int) bool {
	k := x.kind(doc)
	if k.Type == memory.TypeMessage {
		return !x.isUsers(doc)
	}
	return k.Type != memory.TypeSkill && slices.Contains(derivedTypes, k.Type)
}

// isUsers reports whether a document is a message of another speaker than the assistant.
func (x *index) isUsers(doc int) bool {
	return x.kind(doc).Type == memory.TypeMessage && x.speakers[x.docs[doc].speaker] != memory.RoleAssistant
}

// hasFormer reports whether a document is a message of the user that makes a superseded statement.
func (x *index) hasFormer(doc int) bool {
	return x.isUsers(doc) && slices.ContainsFunc(x.outdated, func(o outdated) bool { return int(o.message) == doc })
}

// without returns a content without the sentences that repeat superseded statements; "": nothing else is said. former
// is nil if the content has no such sentence.
func (p *repetitions) without(doc int, content string) (left string, former *former) {
	var repeatable []superseded
	for _, s := range p.statements() {
		if p.x.couldRepeat(doc, &s) {
			repeatable = append(repeatable, s)
		}
	}
	if len(repeatable) == 0 {
		return content, nil
	}
	var kept strings.Builder
	for _, sentence := range text.Sentences(content) {
		i := slices.IndexFunc(repeatable, func(s superseded) bool { return p.repeats(doc, &s, sentence) })
		if i < 0 {
			kept.WriteString(sentence)
			continue
		}
		former = former.with(&repeatable[i], p.x)
	}
	if left = strings.TrimSpace(kept.String()); len(text.Lexemes(left)) < leastWords {
		left = ""
	}
	return left, former
}

// with returns f or, if the memory also repeats s and s was superseded earlier, what makes it former since then.
func (f *former) with(s *superseded, x *index) *former {
	g := &former{successor: -1}
	if s.doc != s.message {
		g.successor = int(s.doc)
	}
	if at, known := x.untilOf(&s.outdated); known {
		g.until = at
	}
	if f == nil || f.until.IsZero() || !g.until.IsZero() && g.until.Before(f.until) {
		return g
	}
	return f
}

// untilOf returns when the successor of a statement was said, if that is known. It is unknown if the successor was
// first said, or written, before the statement: then the successor has been said again or edited since.
func (x *index) untilOf(o *outdated) (at time.Time, known bool) {
	switch {
	case o.until != 0:
		return time.UnixMicro(o.until).UTC(), true
	case o.doc != o.message && x.docs[o.doc].created > x.docs[o.message].created:
		return x.docs[o.doc].createdAt(), true
	}
	return at, false
}

// statements returns the superseded statements, each once, that have words.
func (p *repetitions) statements() []superseded {
	if p.known {
		return p.list
	}
	p.known = true
	x := p.x
	succeeded := map[uint64]bool{} // hashes of what is superseded by an active memory
	for _, o := range x.outdated {
		if o.doc != o.message {
			succeeded[hashOf(o.stated)] = true
		}
	}
	for _, o := range x.outdated {
		if o.doc == o.message && succeeded[hashOf(o.stated)] {
			continue
		}
		if words := wordsIn(o.stated); len(words) > 0 {
			p.list = append(p.list, superseded{outdated: o, words: words})
		}
	}
	return p.list
}

// couldRepeat reports whether a document may repeat a statement: it is not another agent's, and it has nearly all words
// of the statement or is close to it, as isClose says. What the assistant says after the statement was superseded is
// about the present.
func (x *index) couldRepeat(doc int, s *superseded) bool {
	if int(s.message) == doc {
		return x.isUsers(doc)
	}
	own, of := x.kind(doc).AgentID, x.kind(int(s.message)).AgentID
	if own != "" && of != "" && own != of || x.isPassage(doc) {
		return false
	}
	isMessage := x.kind(doc).Type == memory.TypeMessage
	if until, known := x.untilOf(&s.outdated); known && isMessage && !x.docs[doc].createdAt().Before(until) {
		return false
	}
	return len(s.words) >= leastWords && shareOf(s.words, x.lexemesOf(doc)) >= repeatsAll || x.isClose(doc, int(s.message))
}

// repeats reports whether a sentence of a document repeats a statement that no active fact states. A sentence of the
// message that makes the statement must say nothing else. A sentence of a summary that also has the successor's words
// says that the statement is former.
func (p *repetitions) repeats(doc int, s *superseded, sentence string) bool {
	x, words := p.x, wordsIn(appendHashes(nil, text.Join(text.Lexemes(sentence))))
	if int(s.message) == doc {
		return shareOf(s.words, words) >= repeatsAll && shareOf(words, s.words) >= repeatsAll && !x.isStated(s)
	}
	if shareOf(s.words, words) < repeatsAll && (shareOf(words, s.words) < mostlyThere || !x.isClose(doc, int(s.message))) {
		return false
	}
	isSummary, isKnown := x.kind(doc).Type != memory.TypeMessage, s.doc != s.message
	if isSummary && isKnown && shareOf(wordsIn(x.lexemesOf(int(s.doc))), words) >= repeatsAll {
		return false
	}
	return !x.isStated(s)
}

// isClose reports whether a document is the assistant's answer to a message, or was made of its conversation.
func (x *index) isClose(doc, message int) bool {
	k := x.kind(message)
	if k.Type != memory.TypeMessage || x.kind(doc).ConversationID != k.ConversationID {
		return false
	}
	if x.kind(doc).Type != memory.TypeMessage {
		return k.ConversationID != ""
	}
	first, last := int(x.positions[message]), int(x.positions[doc])
	if last <= first || x.docs[doc].createdAt().Sub(x.docs[message].createdAt()) >= sameOccasion {
		return false
	}
	for at := first + 1; at < last; at++ {
		if !x.isAnswer(int(x.sequence[at])) {
			return false
		}
	}
	return k.ConversationID != "" || x.docs[doc].created == x.docs[message].created
}

// sameOccasion is the time within which an answer to a message is said.
const sameOccasion = time.Hour

// isStated reports whether an active fact other than the successor states the same as a superseded statement.
func (x *index) isStated(s *superseded) bool {
	for doc := range x.docs {
		n := int(x.docs[doc].length)
		if doc == int(s.doc) || doc == int(s.message) || float64(n) < repeatsAll*float64(len(s.words)) ||
			repeatsAll*float64(n-1) > float64(len(s.words)) { // "user" is a word of many facts
			continue
		}
		if _, isSuperseded := x.superseded[doc]; isSuperseded || x.lapsed[doc] ||
			x.kind(doc).Type == memory.TypeMessage || x.mayRepeat(doc) {
			continue
		}
		words := wordsIn(x.lexemesOf(doc))
		if shareOf(s.words, words) >= repeatsAll && shareOf(words, s.words) >= repeatsAll {
			return true
		}
	}
	return false
}

// wordsIn returns distinct lexemes without those that name the user.
func wordsIn(lexemes []uint64) []uint64 {
	words := make([]uint64, 0, len(lexemes))
	for _, lexeme := range lexemes {
		if lexeme != aUser && lexeme != theUser && !slices.Contains(words, lexeme) {
			words = append(words, lexeme)
		}
	}
	return words
}

// hashOf hashes lexemes in their order.
func hashOf(lexemes []uint64) (hash uint64) {
	for _, lexeme := range lexemes {
		hash = hash*31 + lexeme
	}
	return hash
}

// shareOf returns the share of words that are also among others; 0 if there are no words.
func shareOf(words, others []uint64) float64 {
	n := 0
	for _, word := range words {
		if slices.Contains(others, word) {
			n++
		}
	}
	return float64(n) / float64(max(1, len(words)))
}
