// Package times reads the times that a text names in English or Chinese:
//
//	text + clock -> tokens -> patterns of english.txt and chinese.txt -> spans in the zone of the clock
//
// A span is the time that the words mean: "yesterday" is that day, "last week" is Monday to Sunday, "two weeks ago" is
// the week around that day, "in March" is the latest March that has begun, unless the sentence is about plans. Seasons
// are those of the northern hemisphere, and weeks begin on Monday.
package times

import (
	"slices"
	"time"

	"hippocampus/internal/lazyregexp"
)

// Span is a time that words of a text name.
type Span struct {
	From, Until time.Time // [From, Until), in the zone of the clock
	Words       string    // as the text has them
}

// Days returns how many days a span has, at least 1.
func (s Span) Days() int { return max(1, daysBetween(s.From, s.Until)) }

// InQuestion returns the times that a question names if it is asked at an instant. Words that have two readings, such
// as 3/4, or "in May" in a question that is neither about the past nor about plans, have a span for each reading.
func InQuestion(text string, at time.Time) []Span { return spansIn(text, at, false) }

// InStatement returns the times that a statement names if it is made at an instant. A date without a year is the
// nearest one, unless the sentence is clearly about the past or about plans.
func InStatement(text string, at time.Time) []Span { return spansIn(text, at, true) }

// Relative reports whether a statement names a time that depends on when it is made: "yesterday", "on 3 May".
func Relative(text string) bool {
	return slices.ContainsFunc(InStatement(text, time.Unix(0, 0).UTC()), func(s Span) bool {
		return !fullYear.MatchString(s.Words)
	})
}

var fullYear = lazyregexp.New(`\d{4}`)

func spansIn(text string, at time.Time, stated bool) (spans []Span) {
	g := grammarOf()
	if !g.mayNameTime(text) {
		return nil
	}
	s := &scan{grammar: g, text: text, tokens: tokensOf(text)}
	s.clock = clock{at: at, today: midnight(at), stated: stated, tense: s.tense}
	for _, f := range s.joined(s.found()) {
		for _, i := range f.intervals {
			if i.until.After(i.from) {
				words := text[s.tokens[f.begin].start:s.tokens[f.end-1].end]
				spans = append(spans, Span{From: i.from, Until: i.until, Words: words})
			}
		}
	}
	return spans
}
