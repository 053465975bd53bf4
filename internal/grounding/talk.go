package grounding

import (
	"strconv"
	"strings"
)

// Line is something that was said in a talk, or that is known of the user already.
type Line struct {
	Source
	Assistant bool // the assistant said it
	Foreign   bool // another voice says it of itself, such as a quote or a pasted mail in a message of the user
	Names     bool // the text lists names of the user, one a line
}

// Talk holds the lines from which a fact about a user may be drawn, oldest first.
type Talk struct {
	own     *matter  // what the user says, knows or consents to
	heard   *matter  // own, and what other voices say of themselves; nil: no line is foreign
	all     *matter  // own, and what the assistant or another voice alone says
	names   []string // of the user, in plain form
	clauses []clause // of the user, and what the user's answers make of the assistant's questions
	account Account  // the same, with what the user wishes, plans or says to be possible
}

// ReadTalk reads the lines of a talk, for several facts of it. What the assistant says becomes the user's own by the
// user's consent in the next line.
func ReadTalk(lines ...Line) *Talk {
	t := &Talk{account: Account{known: map[string]bool{}}}
	var own, foreign, all []*matter
	var reference referent
	for i, line := range lines {
		read := matterOf(line.Source)
		all = append(all, read)
		if line.Names {
			t.names = append(t.names, listedNames(line.Text)...)
		}
		if line.Foreign {
			foreign = append(foreign, read)
			continue
		}
		if !line.Assistant {
			own = append(own, read)
			t.clauses = append(t.clauses, clausesOf(line.Text, ofFacts)...)
			t.account.read(line.Text, &reference)
			continue
		}
		if i+1 == len(lines) || lines[i+1].Assistant {
			continue
		}
		agreed, answered := taken(line.Text, lines[i+1].Text, ofFacts)
		switch agreed {
		case "":
		case line.Text:
			own = append(own, read)
		default:
			own = append(own, matterOf(Source{agreed, line.At}))
		}
		t.clauses = append(t.clauses, answered...)
		_, answered = taken(line.Text, lines[i+1].Text, ofAccounts)
		t.account.clauses = append(t.account.clauses, answered...)
	}
	t.own = matterOfAll(own)
	t.all = matterOfAll(all)
	if len(foreign) > 0 {
		t.heard = matterOfAll(append(foreign, own...))
	}
	return t
}

// Unsaid returns why a fact is not the user's, such as `"Kyoto", "1931"` for terms that are missing, or the words with
// which the user says the opposite; "" if the talk states the fact.
func (t *Talk) Unsaid(fact string) string {
	if missing := t.all.missing(fact); len(missing) > 0 {
		return quoted(missing)
	}
	if aboutAssistant(fact) {
		return ""
	}
	own := t.own
	if t.heard != nil {
		if !t.isOfUser(fact) {
			own = t.heard
		} else if why := own.saidOnlyIn(t.heard, fact, 1); why != "" {
			return "only another voice says " + why
		}
	}
	if why := own.saidOnlyIn(t.all, fact, 2); why != "" {
		return "only the assistant says " + why
	}
	if t.isUnrelated(fact) {
		return "nothing of it"
	}
	if denied := t.contradicted(fact); denied != "" {
		return "the user says the opposite: " + strconv.Quote(denied)
	}
	if wish := t.account.onlyWished(fact); wish != "" {
		return "the user says only: " + strconv.Quote(wish)
	}
	return ""
}

func quoted(words []string) string { return `"` + strings.Join(words, `", "`) + `"` }

// missing returns the names, places, numbers, dates, persons, conditions and traits of a fact that the lines lack.
func (m *matter) missing(fact string) (words []string) {
	words = m.inventedOfUser(fact)
	return append(words, m.missingTerms(fact, false)...)
}
