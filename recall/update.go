package recall

import (
	"math"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"hippocampus/internal/lang/asked"
	"hippocampus/internal/lang/change"
	"hippocampus/internal/lang/function"
	"hippocampus/internal/lang/topic"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// update names an earlier statement that a memory seems to update, and holds what is added to the memory's score for
// that.
type update struct {
	earlier string // id; empty: it updates nothing that was found
	lift    float64
}

// updateReach is the number of best memories among which a later statement is looked for.
const updateReach = 10

// updateGap is the least time from a statement to its update. Statements that are made in one go complement each other.
const updateGap = time.Hour

// The coefficients of updates come from a logistic regression. It separates statements which change what an earlier one
// says from others that are found with it: docs/decisions/0057-what-seems-to-have-changed.md.
const (
	updateBias    = 0.4
	updateStrong  = 1
	updateOverlap = 5.6
	updateWords   = 1.5
	updateLength  = -0.8
	updateChinese = 1.9 // its lexemes are pairs of characters, so that a text has more of them
	updateGerman  = 0.8 // few of its words are stop words, so that a text has more lexemes
	updateOthers  = -1.3
	updateValue   = 1.7
	updateTruth   = 1.3
)

// updates finds statements that change what others say.
type updates struct {
	x       *index
	queries []subquery // that ask for the present; empty: nothing is looked for
	lexemes map[uint64]bool
	kind    asked.Kind
	asks    string // the last query
	german  bool   // asks is in German

	subjects *subjects // of the queries; nil: not read yet
}

// updatesFor returns a finder of updates for queries, which finds nothing if they ask what has happened.
func updatesFor(queries []subquery, x *index) (u updates) {
	parts := queries[:max(1, len(queries)-1)] // without the outline of a prompt
	asksForWhatIsOver := func(q subquery) bool { return q.cues.asksForWhatIsOver() }
	if queries[0].IncludeFormer || slices.ContainsFunc(parts, asksForWhatIsOver) {
		return updates{}
	}
	last := parts[len(parts)-1].Text
	u = updates{x: x, queries: parts, lexemes: map[uint64]bool{}, kind: asked.For(last), asks: last,
		german: function.IsGerman(last)}
	for _, q := range parts {
		for _, lexeme := range text.Lexemes(q.Text) {
			u.lexemes[xxhash.Sum64String(lexeme)] = true
		}
	}
	return u
}

// widen returns a query with a limit that is at least the number of memories among which updates are looked for.
func (u *updates) widen(q Query) Query {
	if len(u.queries) > 0 {
		q.Limit = max(q.Limit, updateReach)
	}
	return q
}

// seem reports whether a statement more probably than not changes what an earlier one says, given that a query found
// both:
//
//	0.4 + strong + 5.6*overlap + 1.5*(words(later) - words(earlier)) - 0.8*ln(1 + lexemes)
//	    + 1.9 in Chinese + 0.8 if the query is in German - 1.3 if it is of others + 1.7 if it has a new value
//	    + 1.3 if the query asks for yes or no
//
// Strong is the number of its strong cues of a change. Overlap is the share of lexemes that the two have in common and
// the query lacks, and words is how well each fits the words of the query, 0..1. A statement without any cue, or one
// that shares neither words nor topics with the earlier one or the query, changes nothing, nor does one about another
// person or thing than the query names.
func (u *updates) seem(earlier, later *relevant, before, said string) bool {
	cues := change.Of(said)
	if cues == (change.Cues{}) {
		return false
	}
	a, b := u.x.saidIn(earlier.doc), u.x.saidIn(later.doc)
	common := 0
	for lexeme := range b {
		if a[lexeme] && !u.lexemes[lexeme] {
			common++
		}
	}
	if common == 0 && later.lexical == 0 && topicsOf(before)&topicsOf(said) == 0 {
		return false
	}
	logit := updateBias + updateStrong*float64(cues.Strong) +
		updateOverlap*float64(common)/float64(1+min(len(a), len(b))) +
		updateWords*(later.lexical-earlier.lexical) + updateLength*math.Log(float64(1+len(b)))
	for _, signal := range []struct {
		is    bool
		value float64
	}{
		{text.IsChinese(said), updateChinese},
		{u.german, updateGerman},
		{change.IsOfOthers(said, before), updateOthers},
		{u.kind.IsNewIn(said, before), updateValue},
		{u.kind == asked.Truth, updateTruth},
	} {
		if signal.is {
			logit += signal.value
		}
	}
	return logit > 0 && !u.subject().differ(a, b, before, said)
}

// subject returns the subjects of the queries. Few recalls need them.
func (u *updates) subject() *subjects {
	if u.subjects == nil {
		u.subjects = &subjects{}
		for _, q := range u.queries {
			u.subjects.add(q)
		}
	}
	return u.subjects
}

func topicsOf(said string) topic.Set { return topic.Of(said, text.Lexemes(said)) }

// saidIn returns the hashes of the lexemes of a document's content.
func (x *index) saidIn(doc int) map[uint64]bool {
	all := x.lexemesOf(doc)
	said := map[uint64]bool{}
	for _, lexeme := range all[len(all)-int(x.docs[doc].said):] {
		said[lexeme] = true
	}
	return said
}

// raise moves the latest memory that seems to update the best memory before the best one. Both answer the query, but
// the later one is about the present. list is ordered by score, and rows has its first updateReach memories whole.
func (u *updates) raise(list []scored, rows map[string]row) {
	if len(list) == 0 || len(u.queries) == 0 {
		return
	}
	if at := u.correction(list, rows); at > 0 {
		putFirst(list, at)
		return
	}
	if !u.x.isStatement(list[0].relevant) {
		return
	}
	earlier, latest := &list[0], 0
	for i := 1; i < min(updateReach, len(list)); i++ {
		later := &list[i]
		if u.x.isLaterStatement(earlier.relevant, later.relevant) &&
			(latest == 0 || u.x.docs[later.doc].created > u.x.docs[list[latest].doc].created) &&
			u.seem(earlier.relevant, later.relevant, rows[earlier.id].whole.Content, rows[later.id].whole.Content) {
			latest = i
		}
	}
	if latest > 0 {
		putFirst(list, latest)
	}
}

// putFirst moves a candidate that updates the first one before it.
func putFirst(list []scored, at int) {
	earlier, raised := list[0], list[at]
	raised.update = update{earlier: earlier.id, lift: earlier.score - raised.score}
	raised.score = earlier.score
	raised.relevant = &relevant{}
	*raised.relevant = *list[at].relevant
	raised.confidence = max(raised.confidence, earlier.confidence)
	copy(list[1:at+1], list[:at])
	list[0] = raised
}

// isStatement reports whether a candidate says something about a person: it is a fact, or a message that is neither the
// assistant's nor a question.
func (x *index) isStatement(r *relevant) bool {
	const mostly = 0.5
	return !r.isDerived(x) && !x.isAnswer(r.doc) && r.question < mostly && r.former == nil
}

// isDerived reports whether a candidate was made of other memories, or of successful work.
func (r *relevant) isDerived(x *index) bool {
	return slices.Contains(derivedTypes, x.kind(r.doc).Type)
}

var derivedTypes = []memory.Type{memory.TypeReflection, memory.TypeSummary, memory.TypeSkill, "insight", "pattern"}

// isLaterStatement reports whether a candidate is a statement of the same person, and later.
func (x *index) isLaterStatement(earlier, later *relevant) bool {
	a, b := &x.docs[earlier.doc], &x.docs[later.doc]
	return b.created >= a.created+updateGap.Microseconds() && x.isStatement(later) &&
		memory.NameOf(x.speakers[a.speaker]) == memory.NameOf(x.speakers[b.speaker])
}
