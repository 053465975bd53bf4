package grounding

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"hippocampus/internal/lang/function"
	"hippocampus/internal/lazyregexp"
)

// In other languages than English and Chinese, what follows from what was said is not known: "16. Mai" from "nächsten
// Freitag", 3 from "drei". The check takes what may follow, and refuses what cannot.

//go:embed months.txt
var monthsFile string

// foreignMonths matches a month of months.txt with the day or the year next to it, and has its English name by the
// others.
var foreignMonths = sync.OnceValue(func() (m struct {
	english map[string]string
	says    *lazyregexp.Regexp
}) {
	m.english = map[string]string{}
	var names []string
	for _, e := range entriesOf(monthsFile) {
		for name := range strings.SplitSeq(e.right, ", ") {
			m.english[name] = strings.ToUpper(e.left[:1]) + e.left[1:]
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	month := `(` + strings.Join(names, "|") + `)`
	m.says = lazyregexp.New(`(?i)\b(\d{1,2})(?:\.|er|º|°)? (?:de |di )?` + month + `(?: (?:de |di |del )?(\d{4}))?\b|` +
		`\b` + month + ` (?:de |di |del )?(\d{4})\b`)
	return m
})

// withEnglishDates writes the dates of a text in another language as English ones: "16 may 2031" for "16. Mai 2031".
func withEnglishDates(s string) string {
	if !hasAny(s, numerals) {
		return s
	}
	months := foreignMonths()
	return months.says.ReplaceAllStringFunc(s, func(found string) string {
		parts := months.says.FindStringSubmatch(found)
		english := months.english[strings.ToLower(parts[2]+parts[4])]
		return strings.TrimSpace(parts[1] + " " + english + " " + parts[3] + parts[5])
	})
}

// isForeign reports whether a text is in another language than English and Chinese, as far as its words show.
func isForeign(s string) bool { return function.IsForeign(s) || function.IsGerman(s) }

// isForeign reports whether a statement is in another language than English and Chinese, as it or the sources show.
func (has Evidence) isForeign(statement string) bool {
	return isForeign(statement) || len(has.worded) > 0 && function.IsUnclear(statement)
}

// isGerman is isForeign for German.
func (has Evidence) isGerman(statement string) bool {
	return function.IsGerman(statement) || has.german && function.IsUnclear(statement)
}

// mayFollow reports whether a date may follow from one that a source in another language has in words.
func (has Evidence) mayFollow(d date) bool {
	return len(has.worded) > 0 && slices.ContainsFunc(has.times, func(at time.Time) bool {
		return d.mayLieIn(span{at.Add(-year), at.Add(year)})
	})
}

// mostInWords is the greatest number that texts have in words rather than digits.
const mostInWords = 12

// isInWords reports whether a source in another language may have a number in words. A text with digits has it in
// digits.
func (has Evidence) isInWords(n float64) bool {
	return n <= mostInWords && slices.ContainsFunc(has.worded, func(said string) bool { return !hasAny(said, numerals) })
}

// sameNoun is how many letters two German words of one root begin with.
const sameNoun = 4

var (
	// beforeNoun matches text after which a German word with a capital is a noun.
	beforeNoun = lazyregexp.New(`(?i)(?:^|\PL)(?:(?:d(?:er|ie|as|en|em|es)|(?:ein|kein|[mds]ein|ihr|unser)(?:e[nmrs]?)?|` +
		`dies(?:e[nmrs]?)|jede[nmrs]?|viele?n?|mehr|etwas|alle?n?|\d+)\s+(?:\p{Ll}+(?:e|en|er|es|em)\s+){0,2}|` +
		`(?:beim|zu[mr]|ins|im|am|vom)\s+)$`)
	nounEnd = lazyregexp.New(`(?:ung|heit|keit|schaft|tion|sion|tät|ismus)$`)
)

// germanNouns are nouns without an article, in facts about people.
var germanNouns = wordSet(`nutzer nutzerin nutzers benutzer benutzerin benutzers anwender anwenderin person uhr
	angst hunger lust spaß freude interesse zeit geld urlaub arbeit jahr jahre jahren monat
	monate monaten woche wochen tag tage tagen stunde stunden kinder kindern eltern
	geschwister familie vegetarier vegetarierin veganer veganerin rentner rentnerin student
	studentin schüler schülerin single haustier haustiere hause beruf`)

// germanOpening returns the name with which a German statement begins; "" if its first word is no name.
func (has Evidence) germanOpening(statement string) string {
	word := latinWord.FindString(statement)
	if !strings.HasPrefix(statement, word) || word == "" || !firstUpper(word) || function.Is(word) ||
		has.isGermanNoun("", word) {
		return ""
	}
	return word
}

// isGermanNoun reports whether a word with a capital is no name, given the German text before it. The check knows it by
// that text, by its end, or by a word of the sources that begins like it. Listed places are names.
func (has Evidence) isGermanNoun(before, word string) bool {
	low := plain(word)
	if IsPlace(low) {
		return false
	}
	if germanNouns[low] || beforeNoun.MatchString(before) || nounEnd.MatchString(low) {
		return true
	}
	if utf8.RuneCountInString(low) < sameNoun {
		return false
	}
	start := string([]rune(low)[:sameNoun])
	for known := range has.words {
		if strings.HasPrefix(known, start) {
			return true
		}
	}
	return false
}
