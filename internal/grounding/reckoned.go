package grounding

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"time"

	"hippocampus/internal/lazyregexp"
)

//go:embed reckoned.txt
var reckonedFile string

// reckonedWords are words that mean numbers.
var reckonedWords = func() map[string][]float64 {
	words := map[string][]float64{}
	for _, e := range entriesOf(reckonedFile) {
		for field := range strings.FieldsSeq(e.right) {
			n, _ := strconv.ParseFloat(field, 64)
			words[e.left] = append(words[e.left], n)
		}
	}
	return words
}()

// hinted is a pattern that can only match texts with one of its hints.
type hinted struct {
	*lazyregexp.Regexp
	hints []string
}

func hintedBy(hints, pattern string) hinted {
	return hinted{lazyregexp.New(pattern), strings.Split(hints, "|")}
}

// groupsIn returns the groups of each match, without the empty ones.
func (p hinted) groupsIn(s string) (matches [][]string) {
	if !hasAny(s, p.hints) {
		return nil
	}
	for _, match := range p.FindAllStringSubmatch(s, -1) {
		matches = append(matches, slices.DeleteFunc(match[1:], func(group string) bool { return group == "" }))
	}
	return matches
}

var (
	aCount    = `(an?|\d{1,2}|` + spelledWord + `)`
	aHanCount = `([一两二三四五六七八九])[个只条位]`
)

var (
	bornIn  = hintedBy("born|生", `\bborn\b[^.!?]{0,25}?\b((?:19|20)\d{2})\b|((?:19|20)\d{2})年?[^。！？]{0,8}出?生`)
	agedNow = hintedBy("i'm|i am|is |turn|aged|岁", `\b(?:i'm|i am|is|turned|turning|aged) (\d{1,3}|\w+(?:[- ]\w+)?)\b|`+
		`(\d{1,3}|`+hanNumber+`)周?岁`)
	lasting = hintedBy(" year|年", `\bfor (?:about |almost |over |the (?:last|past) )?(\d{1,2}|\w+) years?\b|`+
		`(\d{1,2}|`+hanNumber+`)年了?`)
	sinceThe = hintedBy("since|年", `\bsince ((?:19|20)\d{2})\b|从?((?:19|20)\d{2})年`)
	counted  = hintedBy(" and | & | plus |和|、|，", `\b`+aCount+` (?:\w+ ){1,3}(?:and|&|plus) `+aCount+` \w+|`+
		aHanCount+`\p{Han}{1,4}[和、，](?:还有)?`+aHanCount)
	series = hintedBy(" and | & |、", `((?:\w+, )+\w+,? (?:and|&) \w+|\w+ (?:and|&) \w+|`+
		`(?:\p{Han}{1,4}、)+\p{Han}{1,4}(?:和\p{Han}{1,4})?)`)
	hanClock = hintedBy("点", `(?:下午|晚上|傍晚)(\d{1,2}|`+hanNumber+`)点`)
)

// reckon adds to the numbers of a line those that follow from them: an age from a year of birth, a beginning from a
// duration, and the reverse of both, the sum of two counts, the length of a list, and the hours of an afternoon.
func (m *matter) reckon(source Source) {
	said := plain(source.Text)
	for word, values := range reckonedWords {
		if strings.Contains(said, word) {
			for _, v := range values {
				m.numbers[v] = true
			}
		}
	}
	for _, counts := range counted.groupsIn(said) {
		m.numbers[float64(countOf(counts[0])+countOf(counts[1]))] = true
	}
	for _, list := range series.groupsIn(said) {
		m.numbers[float64(1+len(separators.FindAllString(list[0], -1)))] = true
	}
	for _, hour := range hanClock.groupsIn(said) {
		m.numbers[float64(valueOf(hour[0])+12)] = true
	}
	if !source.At.IsZero() {
		m.reckonYears(said, source.At)
	}
}

// separators match what divides the items of a list.
var separators = lazyregexp.New(`,? (?:and|&) |, |[、和]`)

// reckonYears adds the years and ages that follow from the time when a line was said.
func (m *matter) reckonYears(said string, at time.Time) {
	for _, pattern := range []hinted{bornIn, sinceThe} {
		for _, match := range pattern.groupsIn(said) {
			if years := at.Year() - valueOf(match[0]); years > 0 {
				m.numbers[float64(years)], m.numbers[float64(years-1)] = true, true
			}
		}
	}
	for _, pattern := range []hinted{agedNow, lasting} {
		for _, match := range pattern.groupsIn(said) {
			if years := valueOf(match[0]); years > 0 && years < 120 {
				m.numbers[float64(at.Year()-years)], m.numbers[float64(at.Year()-years-1)] = true, true
			}
		}
	}
}

// countOf is the value of a count, in which "a" is one.
func countOf(s string) int {
	if s == "a" || s == "an" {
		return 1
	}
	return valueOf(s)
}
