package grounding

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"hippocampus/internal/lazyregexp"
)

// date is a date in a text. A part that is zero is unknown.
type date struct {
	words   string
	year    int
	month   time.Month
	day     int
	weekday int // 1: Monday to 7: Sunday
}

var months = numbered(`january jan february feb march mar april apr may june jun july jul august aug september sep
	october oct november nov december dec`, 2)

var weekdays = func() map[string]int {
	days := numbered("monday mon tuesday tue wednesday wed thursday thu friday fri saturday sat sunday sun", 2)
	for i, r := range []rune("一二三四五六日") {
		days[string(r)] = i + 1
	}
	days["天"] = 7
	return days
}()

// numbered maps words to 1, 2, .... Each number has a long and a short form, except for "may", which is both.
func numbered(words string, forms int) map[string]int {
	of := map[string]int{}
	place := 0
	for _, w := range strings.Fields(words) {
		of[w] = place/forms + 1
		place++
		if w == "may" {
			place++
		}
	}
	of["sept"] = 9
	return of
}

const (
	monthName = `(Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|` +
		`Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)`
	hanNumber = `[〇零一二两三四五六七八九十百千万]+`
)

// datePatterns find dates; the groups hold the parts in the order of fields. A text with a date has one of the hints.
var datePatterns = []struct {
	says   *lazyregexp.Regexp
	fields string // y, m, d, w
	hints  []string
}{
	{lazyregexp.New(`\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\b`), "ymd", numerals},
	{lazyregexp.New(`\b` + monthName + `\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})\b`), "mdy", numerals},
	{lazyregexp.New(`\b(\d{1,2})(?:st|nd|rd|th)?(?: of)? ` + monthName + `,? (\d{4})\b`), "dmy", numerals},
	{lazyregexp.New(`\b` + monthName + `\.? (\d{4})\b`), "my", numerals},
	{lazyregexp.New(`\b` + monthName + `\.? (\d{1,2})(?:st|nd|rd|th)?\b`), "md", numerals},
	{lazyregexp.New(`\b(\d{1,2})(?:st|nd|rd|th)?(?: of)? ` + monthName + `\b`), "dm", numerals},
	{lazyregexp.New(`\b(January|February|March|April|June|July|August|September|October|November|December)\b`), "m",
		strings.Fields("uary March April June July August ber")},
	{lazyregexp.New(`\b(?:in|since|until|by|last|next|this|early|late|mid|every|during|of|from) (May)\b`), "m",
		[]string{"May"}},
	{lazyregexp.New(`\b(?:every )?((?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)s?\b`), "w", []string{"day"}},
	{lazyregexp.New(`(\d{4})年(\d{1,2}|` + hanNumber + `)月(\d{1,2}|` + hanNumber + `)[日号]?`), "ymd", []string{"月"}},
	{lazyregexp.New(`(\d{4})年(\d{1,2}|` + hanNumber + `)月`), "ym", []string{"月"}},
	{lazyregexp.New(`(\d{1,2}|` + hanNumber + `)月(\d{1,2}|` + hanNumber + `)[日号]`), "md", []string{"月"}},
	{lazyregexp.New(`(\d{1,2}|` + hanNumber + `)月(?:$|[^亮球饼薪租费经子])`), "m",
		[]string{"月"}},
	{lazyregexp.New(`每?(?:周|星期|礼拜)([一二三四五六日天])`), "w", []string{"周", "星期", "礼拜"}},
	{lazyregexp.New(`\b((?:19|20)\d{2})\b`), "y", numerals},
}

var numerals = strings.Split("0123456789", "")

// hasAny reports whether a text has one of some parts. If not, a slower pattern need not be matched.
func hasAny(s string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(s, part) })
}

const furtherDays = `(?:(?:, and |, | and | to | or |–|-)\d{1,2})+`

// Lists of days of one month: the days, and the month with or without the year.
var (
	daysBefore = lazyregexp.New(`\b(\d{1,2})(` + furtherDays + `)( ` + monthName + `(?:,? \d{4})?)\b`)
	daysAfter  = lazyregexp.New(`\b(` + monthName + ` )(\d{1,2}` + furtherDays + `)\b(,? \d{4}\b)?`)
	hanDays    = lazyregexp.New(`((?:\d{4}年)?(?:\d{1,2}|` + hanNumber + `)月)` +
		`((?:(?:\d{1,2}|` + hanNumber + `)[日号]?[、，和及或到至-])+(?:\d{1,2}|` + hanNumber + `)[日号])`)
	oneDay    = lazyregexp.New(`\d{1,2}`)
	oneHanDay = lazyregexp.New(`\d{1,2}|` + hanNumber)
)

// expandDays writes each day of a list with its month and year, as in "6 May 2031, 8 May 2031".
func expandDays(s string) string {
	s = daysBefore.ReplaceAllStringFunc(s, func(list string) string {
		parts := daysBefore.FindStringSubmatch(list)
		return oneDay.ReplaceAllStringFunc(parts[1]+parts[2], func(d string) string { return d + parts[3] })
	})
	s = daysAfter.ReplaceAllStringFunc(s, func(list string) string {
		parts := daysAfter.FindStringSubmatch(list)
		return oneDay.ReplaceAllStringFunc(parts[3], func(d string) string { return parts[1] + d + parts[4] })
	})
	if !strings.Contains(s, "月") {
		return s
	}
	return hanDays.ReplaceAllStringFunc(s, func(list string) string {
		parts := hanDays.FindStringSubmatch(list)
		return oneHanDay.ReplaceAllStringFunc(parts[2], func(d string) string { return parts[1] + d + "日" })
	})
}

// datesIn returns the dates of a text, and the text without them.
func datesIn(s string) (dates []date, rest string) {
	if hasAny(s, numerals) || strings.Contains(s, "月") {
		s = expandDays(s)
	}
	for _, pattern := range datePatterns {
		if !hasAny(s, pattern.hints) {
			continue
		}
		s = pattern.says.ReplaceAllStringFunc(s, func(words string) string {
			d := date{words: strings.TrimSpace(words)}
			for i, part := range pattern.says.FindStringSubmatch(words)[1:] {
				d.set(pattern.fields[i], part)
			}
			if d.month > 12 || d.day > 31 {
				return words
			}
			dates = append(dates, d)
			return " , "
		})
	}
	return dates, s
}

// set sets the field of a date that a letter names.
func (d *date) set(field byte, part string) {
	low := strings.ToLower(part)
	n := hanValue(part)
	if v, err := strconv.Atoi(part); err == nil {
		n = v
	}
	switch field {
	case 'y':
		d.year = n
	case 'm':
		if months[low] != 0 {
			n = months[low]
		}
		d.month = time.Month(n)
	case 'd':
		d.day = n
	case 'w':
		d.weekday = weekdays[low]
	}
}

// relatives match, in a plain text, dates that are relative to when it was said. within is their greatest distance from
// then.
var relatives = []struct {
	says   *lazyregexp.Regexp
	within time.Duration
}{
	{lazyregexp.New(`\b(?:yesterday|today|tomorrow|tonight|last (?:night|evening)|` +
		`this (?:morning|afternoon|evening))\b|` +
		`[昨今明][天晚早日]|[前后]天|刚才`), 3 * day},
	{lazyregexp.New(`\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|(?:周|星期|礼拜)[一二三四五六日天末]|[上下本这]个?周`), 13 * day},
	{lazyregexp.New(`\bweeks?\b|[周星][前后期]|(?:上上|下下)个?周`), 70 * day},
	{lazyregexp.New(`\b(?:ago|recently|lately|new|(?:last|next|this|coming) (?:month|year|spring|summer|autumn|fall|` +
		`winter|season|term|semester|holidays?|christmas|easter|january|february|march|april|may|june|july|august|` +
		`september|october|november|december)|in (?:a|an|\w+) (?:day|month|year)s?)\b|` +
		`[今明去][年月春夏秋冬]|[上下本这]个?[月学]|刚|最近|[天月年]前|[天月年]后`), year},
}

const (
	day  = 24 * time.Hour
	year = 366 * day
)

// agoYears matches a number of years before or after a text was said.
var agoYears = lazyregexp.New(`\b(\w+(?:-\w+)?) years? ago\b|\bin (\w+(?:-\w+)?) years\b|` +
	`(\d+|` + hanNumber + `)年[前后]`)

// span is a time in which a relative date of a source lies.
type span struct{ from, until time.Time }

// spansOf returns the spans of the relative dates in a plain text that was said at an instant.
func spansOf(said string, at time.Time) (spans []span) {
	for _, r := range relatives {
		if r.within == year && !vague(said, r.says) {
			continue
		}
		if r.says.MatchString(said) {
			spans = append(spans, span{at.Add(-r.within), at.Add(r.within)})
		}
	}
	if !strings.Contains(said, "year") && !strings.Contains(said, "年") {
		return spans
	}
	for _, match := range agoYears.FindAllStringSubmatch(said, -1) {
		years := valueOf(match[1] + match[2] + match[3])
		for _, then := range []time.Time{at.AddDate(-years, 0, 0), at.AddDate(years, 0, 0)} {
			spans = append(spans, span{then.Add(-year), then.Add(year)})
		}
	}
	return spans
}

// vague reports whether a sentence of a plain text has such a relative date and names no month, which would show the
// time that is meant.
func vague(said string, relative *lazyregexp.Regexp) bool {
	for _, sentence := range sentenceEnd.Split(said, -1) {
		if relative.MatchString(sentence) && !monthOf.MatchString(sentence) {
			return true
		}
	}
	return false
}

var (
	sentenceEnd = lazyregexp.New(`[.!?\n]+(?:\s|$)|[。！？；\n]+`)
	// monthOf matches a month in a plain text, other than one that is relative itself ("last march").
	monthOf = lazyregexp.New(`\b(?:in|on|since|until|by|of|\d{1,2}(?:st|nd|rd|th)?) (?:jan|feb|mar|apr|may|` +
		`jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|(?:\d{1,2}|` + hanNumber + `)月`)
)

// valueOf is the value of a number in digits, English words or Chinese numerals; 0 for another text.
func valueOf(s string) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	if spelled.MatchString(s) {
		return spelledValue(spelled.FindString(s))
	}
	return hanValue(s)
}

// date reports whether the sources have every known part of a date, or a relative date that may mean it.
func (has Evidence) date(d date) bool {
	if d.isRecurring() {
		has.near, has.times = nil, nil
	}
	if slices.ContainsFunc(has.near, d.mayLieIn) {
		return true
	}
	return d.has(d.year, func(o date) int { return o.year }, has) &&
		d.has(int(d.month), func(o date) int { return int(o.month) }, has) &&
		d.has(d.day, func(o date) int { return o.day }, has) &&
		d.hasWeekday(has)
}

// isRecurring reports whether a date is a day of each week, which is not the day on which something was said.
func (d date) isRecurring() bool {
	return d.weekday > 0 && (strings.HasPrefix(d.words, "every") || strings.HasPrefix(d.words, "每") ||
		strings.HasSuffix(d.words, "days"))
}

// weekdayRun matches days of the week in one word, as in 周一三五.
var weekdayRun = lazyregexp.New(`(?:周|星期)([一二三四五六日]{2,})`)

// weekdaysIn returns the days of such runs.
func weekdaysIn(s string) (dates []date) {
	for _, run := range weekdayRun.FindAllStringSubmatch(s, -1) {
		for _, r := range run[1] {
			dates = append(dates, date{words: run[0], weekday: weekdays[string(r)]})
		}
	}
	return dates
}

// hasWeekday is has for the day of the week. No number of a source is a day of the week.
func (d date) hasWeekday(has Evidence) bool {
	has.numbers = nil
	return d.has(d.weekday, func(o date) int { return o.weekday }, has)
}

// has reports whether a source has a part of a date, or was said at a date with it. A source may also have it as a
// number.
func (date) has(part int, of func(date) int, has Evidence) bool {
	if part == 0 || has.numbers[float64(part)] {
		return true
	}
	for _, at := range has.times {
		day := date{year: at.Year(), month: at.Month(), day: at.Day(), weekday: weekdayOf(at)}
		if of(day) == part {
			return true
		}
	}
	return slices.ContainsFunc(has.dates, func(o date) bool { return of(o) == part })
}

// mayLieIn reports whether some day of a span has every known part of a date. A day of the week alone is looked for
// within a few days only, since every week has it.
func (d date) mayLieIn(s span) bool {
	if d.year == 0 && d.month == 0 && d.day == 0 && s.until.Sub(s.from) > 7*day {
		return false
	}
	for at := s.from; !at.After(s.until); at = at.Add(day) {
		if (d.year == 0 || d.year == at.Year()) && (d.month == 0 || d.month == at.Month()) &&
			(d.day == 0 || d.day == at.Day()) && (d.weekday == 0 || d.weekday == weekdayOf(at)) {
			return true
		}
	}
	return false
}

// weekdayOf is 1 on Monday to 7 on Sunday.
func weekdayOf(at time.Time) int { return (int(at.Weekday())+6)%7 + 1 }
