package recall

import (
	"maps"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"hippocampus/db"
	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// sameShare is the share of a message's lexemes that a fact has at least if both state the same.
const sameShare = 0.75

// theUser is the pair with which a Chinese fact names the user, whom the message calls 我. That one character is a
// part of up to two pairs of the message. English pronouns are stop words, so that they are no lexemes.
var theUser = xxhash.Sum64String("用户")

// stateTheSame reports whether a fact states all of a message, in the third person or in the first: the fact
// has nearly all lexemes of the message, whose day, speaker and pronouns do not count.
func (x *index) stateTheSame(fact, message int) bool { return x.isStatedBy(message, x.lexemesOf(fact)) }

// isStatedBy reports whether lexemes of facts include nearly all of a message.
func (x *index) isStatedBy(message int, stated []uint64) bool {
	said := x.said(message)
	missing := 0
	for _, lexeme := range said {
		if !slices.Contains(stated, lexeme) {
			missing++
		}
	}
	pronouns := min(missing, 2*max(0, count(stated, theUser)-count(said, theUser)))
	left := len(said) - pronouns
	return left > 0 && float64(len(said)-missing) >= sameShare*float64(left)
}

// successorOf returns the latest document that superseded a statement of a message; the message itself if that document
// is not active any more, and -1 if no statement of it was superseded. former reports whether the message states
// nothing else: each of its statements was superseded, or is that of an active fact, which is found by itself. A
// message of one clause states only what was taken from it, in whatever words.
func (x *index) successorOf(message uint32) (successor int, former bool) {
	var stated []uint64
	successor = -1
	whole := false
	for _, o := range x.outdated {
		if o.message != message {
			continue
		}
		doc, own := int(o.doc), int(message)
		if successor < 0 || successor == own || doc != own && x.docs[doc].created > x.docs[successor].created {
			successor = doc
		}
		whole, stated = whole || o.whole, append(stated, o.stated...)
	}
	if successor < 0 || whole {
		return successor, whole
	}
	for _, t := range x.taken {
		if t.message == message {
			stated = append(stated, x.lexemesOf(int(t.doc))...)
		}
	}
	return successor, x.isStatedBy(int(message), stated)
}

var severalClauses = lazyregexp.New(`[,，、;；:：]|\s(?:and|but|because|und|et|y|e)\s`)

// isOneClause reports whether a text is at most one sentence, and shows no sign of several clauses.
func isOneClause(content string) bool {
	content = strings.TrimSpace(content)
	return !severalClauses.MatchString(content) && len(text.Sentences(content)) <= 1
}

// said returns the lexemes of a message's content, without the lexemes of its day, of its speaker and of what it
// answers.
func (x *index) said(message int) []uint64 {
	d := &x.docs[message]
	return x.lexemes[d.end-d.said : d.end]
}

// prefixes counts the lexemes of documents before those of their contents. It keeps the numbers of speakers.
type prefixes map[string]int

func (p *prefixes) of(d *db.Document) int {
	if d.Type != memory.TypeMessage {
		return 0
	}
	n := memory.DayLexemes
	if d.Asked != "" {
		n += len(text.Lexemes(d.Asked))
	}
	if memory.NameOf(d.Speaker) == "" {
		return n
	}
	named, known := (*p)[d.Speaker]
	if !known {
		if *p == nil {
			*p = prefixes{}
		}
		named = len(text.Lexemes(d.Speaker))
		(*p)[d.Speaker] = named
	}
	return n + named
}

func count(lexemes []uint64, wanted uint64) (n int) {
	for _, lexeme := range lexemes {
		if lexeme == wanted {
			n++
		}
	}
	return n
}

// withoutDays returns the postings as if the texts of messages had no day. differ is false if that makes no difference:
// only a query with a number finds a day.
func (x *index) withoutDays(found postings) (without postings, differ bool) {
	for lexeme, list := range found {
		if !isDigits(lexeme) {
			continue
		}
		if !differ {
			without, differ = maps.Clone(found), true
		}
		hash := xxhash.Sum64String(lexeme)
		var left []posting
		for _, p := range list {
			if x.kind(int(p.doc)).Type == memory.TypeMessage {
				lexemes := x.lexemesOf(int(p.doc))
				p.count -= uint32(count(lexemes[:min(memory.DayLexemes, len(lexemes))], hash))
			}
			if p.count > 0 {
				left = append(left, p)
			}
		}
		without[lexeme] = left
	}
	return without, differ
}
