package recall

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"hippocampus/internal/lang/times"
)

// dayRange is a range of days, counted from 1970: from the first until the one after the last; zero: no days.
type dayRange struct{ from, until int32 }

// dayOf is the number of the day of an instant in its zone.
func dayOf(at time.Time) int32 {
	return int32(time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60))
}

func daysOf(s times.Span) dayRange { return dayRange{dayOf(s.From), dayOf(s.Until.Add(-1)) + 1} }

// longestAbout is the most days that a memory is about: a season. "This year" says little of when something happens.
const longestAbout = 92

// aboutOf returns the first two ranges of days that a content names, if the content was said at an instant.
func aboutOf(content string, at time.Time) (about [2]dayRange) {
	n := 0
	for _, s := range times.InStatement(content, at) {
		if n < len(about) && s.Days() <= longestAbout {
			about[n] = daysOf(s)
			n++
		}
	}
	return about
}

// How well a memory fits a time that a query names, if the memory was said shortly after the time or on the day before,
// or is about a longer time.
const (
	dayAfter   = 0.5  // on the day after
	daysAfter  = 0.25 // on one of the ten days after, or, if the time is a day, on the day before
	latestSaid = 10   // days after
	longerTime = 0.5  // longer than a week and than the time of the query
)

// askedTime is a time that a query names, with the bounds that each memory is compared with. Instants are Unix
// microseconds.
type askedTime struct {
	times.Span
	days         dayRange
	before       int64 // beginning of the day before; From unless the time is a day
	from, until  int64
	next, latest int64 // end of the day after, and of the last of the days after
}

func askedTimes(query string, at time.Time) (asked []askedTime) {
	for _, s := range times.InQuestion(query, at) {
		before := s.From
		if s.Days() == 1 {
			before = s.From.AddDate(0, 0, -1)
		}
		asked = append(asked, askedTime{
			Span: s, days: daysOf(s), before: before.UnixMicro(), from: s.From.UnixMicro(), until: s.Until.UnixMicro(),
			next: s.Until.AddDate(0, 0, 1).UnixMicro(), latest: s.Until.AddDate(0, 0, latestSaid).UnixMicro(),
		})
	}
	return asked
}

// withoutTimes returns a query without the words that name times.
func withoutTimes(query string, named []askedTime) string {
	for i := range named {
		query = strings.Replace(query, named[i].Words, " ", 1)
	}
	return query
}

// dateMatch is how well a memory fits the times that a query names, 0..1: 1 if it was said in such a time or is about
// a day in it, and less if it was said around it. What is still to come does not fit a query for what happened.
func (c *queryCues) dateMatch(d *document) float64 {
	if c.tomorrow != 0 && d.about[0].from >= c.tomorrow && (d.about[1] == dayRange{} || d.about[1].from >= c.tomorrow) {
		return 0
	}
	best := 0.0
	for i := range c.dates {
		best = max(best, c.dates[i].match(d))
	}
	return best
}

func (a *askedTime) match(d *document) float64 {
	around := 0.0
	for _, about := range d.about {
		if about.from < a.days.until && a.days.from < about.until {
			if about.until-about.from <= max(7, a.days.until-a.days.from) {
				return 1
			}
			around = longerTime
		}
	}
	switch at := d.created; {
	case at < a.before, at >= a.latest:
		return around
	case at >= a.from && at < a.until:
		return 1
	case at >= a.until && at < a.next:
		return max(around, dayAfter)
	}
	return max(around, daysAfter)
}

// dated returns the places of at most n open documents that fit a time of the query fully: the best by words, and of
// equal ones the latest.
func (c *queryCues) dated(x *index, lexical lexicalScores, open []bool, n int) (places []int) {
	if len(c.dates) == 0 {
		return nil
	}
	for doc := range x.docs {
		if open[doc] && c.dateMatch(&x.docs[doc]) == 1 {
			places = append(places, doc)
		}
	}
	slices.SortFunc(places, func(a, b int) int {
		return cmp.Or(cmp.Compare(lexical.relative[b], lexical.relative[a]),
			cmp.Compare(x.docs[b].created, x.docs[a].created), x.compareIDs(a, b))
	})
	return places[:min(n, len(places))]
}
