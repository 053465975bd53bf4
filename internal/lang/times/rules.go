package times

import (
	"slices"
	"strconv"
	"time"
)

// clock resolves times against an instant.
type clock struct {
	at, today time.Time
	stated    bool // the text is a statement, and no question
	tense     func() tense
}

// tense is whether a sentence is about the past or about plans.
type tense int

const (
	either tense = iota
	past
	ahead
	perhapsPast // its words say little: "said", "was"
	inPresent   // "comes": a weekday is the next one
)

// resolve returns the intervals that a match means, nil for a date that does not exist.
//
//	day K, part K [night], period K, week K, ...   so many days, weeks, ... after the present one
//	weekof K                                       a weekday of such a week
//	ago [N], ahead [N], past [N], coming [N]       so long before or after, or the time until or from now
//	window A B                                     the days from A to B after today
//	date, days, month, season, feast, lastday, dayof, daysof, weekday with near, last, this, next, or years after the
//	                                               present: one of those that recur
//	weekday unclear                                the next one, and that of the next week
//	year, slash                                    a year, two numbers with a slash
//	cutof UNIT PART                                the nearest part of a month or a year, such as its end
func (c *clock) resolve(r *rule, has captures) []interval {
	which := ""
	if len(r.args) > 0 {
		which = r.args[0]
	}
	k, _ := strconv.Atoi(which)
	then := c.today.AddDate(0, 0, k)
	units := map[string]int{"week": weeks, "weekend": weekends, "months": months, "years": years}
	switch r.name {
	case "day":
		return []interval{dayAt(then)}
	case "part":
		hours := has[part]
		if hours == 0 {
			hours = night
		}
		return []interval{partOf(then, hours)}
	case "period":
		return []interval{period(has[unit], c.today, k)}
	case "week", "months", "years":
		return []interval{period(units[r.name], c.today, k)}
	case "weekend":
		if which == "near" {
			return c.weekly(func(n int) interval { return period(weekends, c.today, n) }, which)
		}
		return []interval{period(weekends, c.today, k)}
	case "weekday":
		in := func(week int) interval { return dayAt(mondayOf(c.today).AddDate(0, 0, 7*week+has[weekday]-1)) }
		if which == "unclear" {
			return slices.Compact(append(c.weekly(in, "next"), in(1)))
		}
		return c.weekly(in, which)
	case "weekof":
		return []interval{dayAt(mondayOf(c.today).AddDate(0, 0, 7*k+has[weekday]-1))}
	case "year":
		return []interval{period(years, date(has[year], 1, 1, c.at.Location()), 0)}
	case "window":
		until, _ := strconv.Atoi(r.args[1])
		return []interval{{then, c.today.AddDate(0, 0, until)}}
	case "cutof":
		return c.partOfPeriod(units[which], (&rule{name: r.args[1]}).code())
	case "slash":
		return c.slashed(has)
	case "dayof":
		return c.daysOfMonth(has[day], has[day], which)
	case "daysof":
		return c.daysOfMonth(has[day], has[day2], which)
	case "ago", "ahead", "past", "coming":
		return c.distant(r.name, which, has)
	}
	return c.recurring(r.name, which, has)
}

// night is the part of a day from 18:00 to 6:00.
const night = 1830

// few is how many units "a few" are about.
const few = 3

// distant returns the time that lies a number of units before or after the present one.
func (c *clock) distant(name, which string, has captures) []interval {
	n, err := strconv.Atoi(which)
	switch {
	case which == "halfyear":
		n, has[unit] = 6, months
	case which == "few":
		return []interval{{move(c.today, has[unit], -2*few), move(c.today, has[unit], -1)}}
	case err != nil:
		n = has[count]
	}
	switch name {
	case "ago":
		return []interval{around(move(c.today, has[unit], -n), has[unit])}
	case "ahead":
		return []interval{around(move(c.today, has[unit], n), has[unit])}
	case "past":
		return []interval{{move(c.today, has[unit], -n), c.today.AddDate(0, 0, 1)}}
	}
	return []interval{{c.today, move(c.today, has[unit], n).AddDate(0, 0, 1)}}
}

// slashed returns the readings of two numbers with a slash, with a year if they have one.
func (c *clock) slashed(has captures) (list []interval) {
	for _, order := range [][2]int{{has[oneNumber], has[otherNumber]}, {has[otherNumber], has[oneNumber]}} {
		read := has
		if read[month], read[day] = order[0], order[1]; read[month] > 12 {
			continue
		}
		for _, i := range c.recurring("date", "near", read) {
			if !slices.Contains(list, i) {
				list = append(list, i)
			}
		}
	}
	return list
}

// recurring returns an interval that comes once a year: a date, days, a month, a season or a festival.
func (c *clock) recurring(name, which string, has captures) []interval {
	zone := c.at.Location()
	in := func(n int) (interval, bool) {
		y := c.today.Year() + n
		first := date(y, time.Month(has[month]), has[day], zone)
		switch name {
		case "month":
			return monthAt(y, time.Month(has[month]), zone), true
		case "season":
			return interval{date(y, time.Month(has[season]), 1, zone), date(y, time.Month(has[season]+3), 1, zone)}, true
		case "feast":
			first = date(y, time.Month(has[feast]/100%100), has[feast]%100, zone)
			return interval{first, first.AddDate(0, 0, max(1, has[feast]/10000))}, true
		case "lastday":
			return dayAt(date(y, time.Month(has[month]+1), 0, zone)), true
		case "days":
			return interval{first, date(y, time.Month(has[month]), has[day2]+1, zone)}, has[day2] > has[day]
		}
		return dayAt(first), first.Day() == has[day]
	}
	if has[year] > 0 {
		which = strconv.Itoa(has[year] - c.today.Year())
	}
	if n, err := strconv.Atoi(which); err == nil {
		if i, exists := in(n); exists {
			return []interval{i}
		}
		return nil
	}
	years := 2
	if has[month] == 2 && has[day] == 29 {
		years = 8 // the next one may be so far away
	}
	list := make([]interval, 0, 2*years+1)
	for n := -years; n <= years; n++ {
		if i, exists := in(n); exists {
			list = append(list, i)
		}
	}
	return c.pick(list, which, c.at)
}

// soon is how many days before a date a statement that is perhaps about the past most probably means this date, and
// not that of the year before: "He said that the surgery is on 12 May".
const soon = 91

// isSoon reports whether the next one of two dates comes soon, and the one before is most of a year ago.
func isSoon(at time.Time, before, after *interval) bool {
	return before != nil && after != nil && daysBetween(after.from, after.until) <= 7 &&
		daysBetween(at, after.from) <= soon && daysBetween(before.until, at) > 2*soon
}

// isWeekly reports whether two intervals are a week apart.
func isWeekly(before, after *interval) bool {
	return before != nil && after != nil && daysBetween(before.from, after.from) == 7
}

// daysOfMonth returns the days from one to another of the month that comes a number of months after the present one, or
// of the nearest months.
func (c *clock) daysOfMonth(first, last int, which string) []interval {
	in := func(n int) (interval, bool) {
		month := period(months, c.today, n).from
		from, to := month.AddDate(0, 0, first-1), month.AddDate(0, 0, last-1)
		return interval{from, to.AddDate(0, 0, 1)}, first <= last && to.Day() == last
	}
	if n, err := strconv.Atoi(which); err == nil {
		if i, exists := in(n); exists {
			return []interval{i}
		}
		return nil
	}
	var list []interval
	for n := -2; n <= 2; n++ {
		if i, exists := in(n); exists {
			list = append(list, i)
		}
	}
	return c.pick(list, which, c.at)
}

// partOfPeriod picks a part that each month or year has.
func (c *clock) partOfPeriod(unit, code int) []interval {
	var list []interval
	for n := -2; n <= 2; n++ {
		list = append(list, period(unit, c.today, n).cutTo(code))
	}
	return c.pick(list, "near", c.at)
}

// weekly picks an interval that comes once a week. The past one began before today.
func (c *clock) weekly(in func(week int) interval, which string) []interval {
	var list []interval
	for n := -2; n <= 2; n++ {
		list = append(list, in(n))
	}
	return c.pick(list, which, c.today.Add(-1))
}

// pick returns the intervals of a series in order that the words mean: the last one that is over, this one, the next
// one that begins, or the nearest ones that fit the tense of the sentence. An interval that begins until begun is in
// the past.
//
// Without a tense, a statement about a day that comes once a month rather means the next one: "The car goes to the
// garage on the 20th."
func (c *clock) pick(series []interval, which string, begun time.Time) []interval {
	var before, after, over, present, next *interval
	for n := range series {
		i := &series[n]
		if !i.from.After(begun) {
			before = i
		}
		if !i.until.After(c.today) {
			over = i
		}
		if !i.from.After(c.at) && i.until.After(c.at) || which == "this" && present == nil && i.from.After(c.at) {
			present = i
		}
		if after == nil && i.until.After(c.at) {
			after = i
		}
		if next == nil && i.from.After(c.at) {
			next = i
		}
	}
	chosen := []*interval{before, after}
	switch {
	case which == "last":
		chosen = []*interval{over}
	case which == "this":
		chosen = []*interval{present}
	case which == "next":
		chosen = []*interval{next}
	case c.tense() == perhapsPast && c.stated && isSoon(c.at, before, after):
		chosen = []*interval{after}
	case c.tense() == past, c.tense() == perhapsPast:
		chosen = []*interval{before}
	case c.tense() == ahead, c.tense() == inPresent && c.stated && isWeekly(before, after):
		chosen = []*interval{after}
	case c.stated && before != nil && after != nil && before != after:
		ago, until := c.at.Sub(before.until), after.from.Sub(c.at)
		if apart := daysBetween(before.from, after.from); 7 < apart && apart <= 31 {
			ago *= 2
		}
		if ago < until {
			chosen = chosen[:1]
		} else {
			chosen = chosen[1:]
		}
	}
	var list []interval
	for _, i := range chosen {
		if i != nil && !slices.Contains(list, *i) {
			list = append(list, *i)
		}
	}
	return list
}
