// Package asked reads what kind of value a question asks for, and whether a text has a new value of that kind:
//
//	"Which city do I live in?"                              -> Name
//	Name, "I moved from Leeds to York", before: "in Leeds"  -> York is new
//
// It knows English and Chinese, and questions for yes or no in German. A name is a word with a capital, so that Chinese
// texts have no names.
package asked

import (
	"slices"
	"strings"

	"hippocampus/internal/lazyregexp"
)

// Kind is what a question asks for.
type Kind int

// The kinds.
const (
	Other   Kind = iota
	Address      // of e-mail
	Number       // an amount, an age, a telephone number
	Time         // a day or a time of day
	Truth        // yes or no
	Name         // of a person, a place or an organisation
)

// questions are tried in this order.
var questions = []struct {
	kind    Kind
	pattern *lazyregexp.Regexp
}{
	{Address, lazyregexp.New(`\be-?mails?\b|\bmail\b|邮箱|邮件`)},
	{Number, lazyregexp.New(`\b(?:number|phone|mobile|how (?:old|many|much)|age|(?:call|reach) me)\b|` +
		`手机|电话|号码|尾号|分机|多大|几岁|年龄|多少`)},
	{Time, lazyregexp.New(`\bwhen\b|\bwhat time\b|\bwhich (?:day|month|year)\b|` +
		`什么时候|几点|哪天|几号|哪一天|几月|星期几|周几`)},
	{Truth, lazyregexp.New(`^(?:do|does|am|is|are|can|have|will|should)\b|吗[？?]?$|^\p{L}+ (?:ich|wir)\b`)},
	{Name, lazyregexp.New(`\b(?:where|whom?|which|what (?:city|town|company|country|place)|named?|called|surname)\b`)},
}

// duration is in questions for a length of time, which the days of two statements give.
var duration = lazyregexp.New(`\bhow long\b|\bhow many (?:days|weeks|months|years)\b|多久|多长时间|几天|几周|几年|几个月`)

// WantsDays reports whether the day of a statement may be part of the answer to a question.
func WantsDays(question string) bool {
	return For(question) == Time || duration.MatchString(strings.ToLower(question))
}

// For returns what a question asks for.
func For(question string) Kind {
	question = strings.ToLower(strings.TrimSpace(question))
	for _, q := range questions {
		if q.pattern.MatchString(question) {
			return q.kind
		}
	}
	return Other
}

const (
	numerals = `\d+|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b`
	tens     = `\b(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)\b`
)

// values match values of a kind, in lower case except for names.
var values = map[Kind]*lazyregexp.Regexp{
	Address: lazyregexp.New(`\S+@\S+`),
	Number:  lazyregexp.New(numerals + `|` + tens + `|[一二三四五六七八九十两]+[岁点月号个]`),
	Time: lazyregexp.New(numerals + `|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|` +
		`\b(?:january|february|march|april|may|june|july|august|september|october|november|december|` +
		`spring|summer|autumn|winter|midnight|noon|morning|evening|night)\b|` +
		`(?:周|星期|礼拜)[一二三四五六日天]|[一二三四五六七八九十]+[点月号]|[春夏秋冬]天|半夜|早上|晚上|中旬|月底|月初|月中`),
	Name: lazyregexp.New(`[\pL\pN_,;] \p{Lu}[\pL\pN_'-]+`), // not at the beginning of a sentence
}

// calendar matches names of days and months in English and German.
var calendar = lazyregexp.New(`(?i)^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|` +
	`(?:mon|diens|donners|frei|sams|sonn)tags?|` +
	`mittwochs?|sonnabends?|january|february|march|april|may|june|july|august|september|october|november|december|` +
	`januar|februar|märz|mai|juni|juli|oktober|dezember)$`)

// IsNewIn reports whether a text has a value of the kind that an earlier one lacks.
func (k Kind) IsNewIn(later, earlier string) bool {
	before := k.valuesIn(earlier)
	return slices.ContainsFunc(k.valuesIn(later), func(value string) bool { return !slices.Contains(before, value) })
}

func (k Kind) valuesIn(said string) (list []string) {
	pattern := values[k]
	if pattern == nil {
		return nil
	}
	if k != Name {
		return pattern.FindAllString(strings.ToLower(said), -1)
	}
	for _, found := range pattern.FindAllString(said, -1) {
		if name := found[2:]; !strings.HasPrefix(name, "I'") && !calendar.MatchString(name) {
			list = append(list, name)
		}
	}
	return list
}
