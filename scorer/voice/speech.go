package voice

import (
	"strings"

	"hippocampus/internal/lazyregexp"
)

// saidByUser matches a clause in which the user reports the user's own words.
var saidByUser = lazyregexp.New(`(?i)^\s*(?:(?:i|we)(?: \w+ly)? (?:said|told|wrote|answered|replied|texted|posted|` +
	`promised|explained|ask(?:ed)?|say|tell|write) |我们?(?:[跟对和向给].{1,6})?(?:写|说|讲|留言|回复|发帖|评论|回答))`)

// speech divides the text of a Quote into the clause that reports it and what is said. A quoted line without a clause
// is all said; if the user says it, all is the clause.
func speech(quote string) (clause, said string) {
	clause, said = quoted(quote)
	if saidByUser.MatchString(clause) {
		return quote, ""
	}
	return clause, said
}

func quoted(quote string) (clause, said string) {
	for i, opening := range quote {
		closing := closingOf[opening]
		if closing == "" || opening == '\'' && !opens(quote, i) {
			continue
		}
		start := i + len(string(opening))
		if length := closes(quote[start:], closing); length >= 0 {
			return quote[:i] + quote[start+length+len(closing):], quote[start : start+length]
		}
	}
	if at := strings.IndexAny(quote, ":："); at >= 0 && report.MatchString(quote) {
		return quote[:at], quote[at:]
	}
	return "", quote
}
