package quality

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"hippocampus/internal/text"
)

// Kind of a reference answer.
type Kind string

// The kinds. An answer of another form, such as "Likely yes", or one in the annotator's own words, is undecidable:
// a comparison of strings cannot find it.
const (
	Phrase      Kind = "phrase" // some words
	List        Kind = "list"   // several phrases
	Number      Kind = "number" // one number, also a year
	Day         Kind = "day"
	Month       Kind = "month"
	Undecidable Kind = ""
)

// gold is a reference answer, in a form that texts can be searched for.
type gold struct {
	kind  Kind
	parts [][]string // normal words of a phrase, of each item of a list, or the number
	date  string     // 2006-01-02 of a Day, 2006-01 of a Month
}

// goldOf returns the answer of a question. It is decidable if the conversation has its words: those of a phrase or of a
// list in any turns; a number or date, which many other lines have as well, in a turn of the evidence.
func goldOf(c conversation, q question) gold {
	g := parseGold(q.Answer)
	holds := func(t turn) func(part []string) bool {
		words := normal(t.Text)
		return func(part []string) bool { return contains(words, part) }
	}
	decidable := false
	switch g.kind {
	case Phrase, List:
		decidable = !slices.ContainsFunc(g.parts, func(part []string) bool {
			return !slices.ContainsFunc(c.Turns, func(t turn) bool { return holds(t)(part) })
		})
	case Number:
		decidable = slices.ContainsFunc(evidenceOf(c, q), func(t turn) bool { return holds(t)(g.parts[0]) })
	case Day, Month:
		decidable = slices.ContainsFunc(evidenceOf(c, q), func(t turn) bool {
			return strings.HasPrefix(t.At.Format(time.DateOnly), g.date)
		})
	}
	if !decidable {
		return gold{}
	}
	return g
}

func evidenceOf(c conversation, q question) []turn {
	return slices.DeleteFunc(slices.Clone(c.Turns), func(t turn) bool { return !slices.Contains(q.Evidence, t.ID) })
}

// heldIn returns the share of the answer that a context holds, 0..1. A number or date counts in lines that quote the
// evidence alone.
func (g gold) heldIn(context string, evidence []turn) float64 {
	if g.kind == Phrase || g.kind == List {
		words, held := normal(context), 0
		for _, part := range g.parts {
			if contains(words, part) {
				held++
			}
		}
		return float64(held) / float64(len(g.parts))
	}
	day := "" // of the messages in the lines that follow
	for line := range strings.Lines(context) {
		switch {
		case dayHeading.MatchString(line):
			day = line
		case strings.HasPrefix(line, "["), strings.HasPrefix(line, "- "):
			day = ""
		}
		if !slices.ContainsFunc(evidence, func(t turn) bool { return quotes(line, t) }) {
			continue
		}
		if g.kind == Number && contains(normal(line), g.parts[0]) || g.kind != Number && strings.Contains(day+line, g.date) {
			return 1
		}
	}
	return 0
}

// quotes reports whether a line has a sentence of a turn.
func quotes(line string, t turn) bool {
	return slices.ContainsFunc(text.Sentences(t.Text), func(sentence string) bool {
		return utf8.RuneCountInString(sentence) >= shortestQuote && strings.Contains(line, beginning(sentence))
	})
}

// shortestQuote is the least number of characters of a sentence that is recognised: shorter ones stand in many turns.
const shortestQuote = 20

// dayHeading is the line of a context before the messages of a day.
var dayHeading = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}:\n$`)

var (
	// "The week before 9 June 2023" is what was said on that day with "last week".
	dayFirst   = regexp.MustCompile(`^(?:on |(?:the |a )?[\w ]*(?:before|of) )?(\d{1,2}) ?([A-Z][a-z]+),? (\d{4})$`)
	monthFirst = regexp.MustCompile(`^(?:on |(?:the |a )?[\w ]*(?:before|of) )?([A-Z][a-z]+) (\d{1,2}),? (\d{4})$`)
	monthAlone = regexp.MustCompile(`^(?:in )?([A-Z][a-z]+),? (\d{4})$`)
	numberOnly = regexp.MustCompile(`^\d+$`)
	separators = regexp.MustCompile(`\s*[,;]\s*(?:and )?|\s+and\s+`)
	verdict    = regexp.MustCompile(`(?i)^(?:yes|no|likely|presumably|somewhat|not)\b`)
)

// longestItem is the most words of an item of a list: more are a sentence with commas.
const longestItem = 5

// parseGold reads a reference answer as the annotators of LoCoMo write them.
func parseGold(answer string) gold {
	answer = strings.Trim(strings.TrimSpace(answer), ".")
	for pattern, order := range map[*regexp.Regexp]string{dayFirst: "2 January 2006", monthFirst: "January 2 2006"} {
		if m := pattern.FindStringSubmatch(answer); m != nil {
			if at, err := time.Parse(order, strings.Join(m[1:], " ")); err == nil {
				return gold{kind: Day, date: at.Format(time.DateOnly)}
			}
		}
	}
	if m := monthAlone.FindStringSubmatch(answer); m != nil {
		if at, err := time.Parse("January 2006", strings.Join(m[1:], " ")); err == nil {
			return gold{kind: Month, date: at.Format("2006-01")}
		}
	}
	if answer == "" || verdict.MatchString(answer) {
		return gold{}
	}
	words := normal(answer)
	if len(words) == 1 && numberOnly.MatchString(words[0]) {
		return gold{kind: Number, parts: [][]string{words}}
	}
	var items [][]string
	for _, item := range separators.Split(answer, -1) {
		if part := normal(item); len(part) > 0 {
			items = append(items, part)
		}
	}
	isLong := func(item []string) bool { return len(item) > longestItem }
	if len(items) > 1 && !slices.ContainsFunc(items, isLong) {
		return gold{kind: List, parts: items}
	}
	return gold{kind: Phrase, parts: [][]string{words}}
}

var numberWords = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve")

// normal returns the words of a text in lower case, without punctuation and articles, with small numbers in digits, as
// SQuAD compares answers (Rajpurkar et al., 2016).
func normal(s string) []string {
	between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	words := strings.FieldsFunc(strings.ToLower(s), between)
	kept := words[:0]
	for _, word := range words {
		if word == "a" || word == "an" || word == "the" {
			continue
		}
		if n := slices.Index(numberWords, word); n >= 0 {
			word = strconv.Itoa(n)
		}
		kept = append(kept, word)
	}
	return kept
}

// contains reports whether the words have the part in a row; no part is held by anything.
func contains(words, part []string) bool {
	if len(part) == 0 {
		return false
	}
	for i := 0; i+len(part) <= len(words); i++ {
		if slices.Equal(words[i:i+len(part)], part) {
			return true
		}
	}
	return false
}
