package ingest

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
	"hippocampus/scorer"
)

// aboutUser returns the sentences of another participant's message that speak of the user of a turn: those with the
// user's name, and those that go on with a pronoun. A sentence that merely addresses the user counts if it says "you".
func aboutUser(turn memory.Turn, m memory.Message) string {
	name := regexp.QuoteMeta(turn.Shared.Name)
	if name == "" {
		return ""
	}
	addressing := regexp.MustCompile(`(?i)^\s*` + name + `\s*[,，:：、!！]\s*|[,，]\s*` + name + `\s*[.?!。？！…]*\s*$`)
	var about []string
	goesOn := false
	for _, sentence := range text.Sentences(m.Content) {
		spoken := addressing.ReplaceAllString(sentence, "")
		switch {
		case hasName(spoken, turn.Shared.Name):
			goesOn = true
		case spoken != sentence:
			goesOn = slices.ContainsFunc(secondPerson, func(word string) bool { return hasName(spoken, word) })
		default:
			goesOn = goesOn && thirdPerson.MatchString(spoken) && !namesAnother(turn, m, spoken)
		}
		if goesOn {
			about = append(about, sentence)
		}
	}
	return strings.Join(about, "")
}

var (
	secondPerson = []string{"you", "your", "yours", "你", "您"}
	thirdPerson  = lazyregexp.New(`(?i)^\s*(?:(?:she|he|they|her|his|their)\b|[她他]|ta\b)`)
)

// namesAnother reports whether a text names another speaker of a turn than its user and the one of a message.
func namesAnother(turn memory.Turn, m memory.Message, spoken string) bool {
	return slices.ContainsFunc(turn.Messages, func(other memory.Message) bool {
		return other.Name != m.Name && hasName(spoken, other.Name)
	})
}

// hasName reports whether a text has a name, as words of its own where words are written with spaces.
func hasName(s, name string) bool {
	s, name = strings.ToLower(s), strings.ToLower(strings.TrimSpace(name))
	for begin := 0; name != ""; begin++ {
		i := strings.Index(s[begin:], name)
		if i < 0 {
			return false
		}
		begin += i
		if isEdge(s, begin) && isEdge(s, begin+len(name)) {
			return true
		}
	}
	return false
}

// isEdge reports whether no word of a script with spaces goes on at a place of a text.
func isEdge(s string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	after, _ := utf8.DecodeRuneInString(s[at:])
	isWord := func(r rune) bool { return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !text.IsUnspaced(r) }
	return !isWord(before) || !isWord(after)
}

// withoutOthers returns candidates without those that another participant states about another person than the user, in
// the turn or in the messages before it, and without those of the user's earlier words that would be taken for words of
// another participant. A question states nothing.
func withoutOthers(turn memory.Turn, before []memory.Message, candidates []memory.Candidate) []memory.Candidate {
	if !turn.Shared.Is() {
		return candidates
	}
	return slices.DeleteFunc(candidates, func(c memory.Candidate) bool {
		words := wordsOf(c.Content)
		var own, about, earlier, others float64 // the largest parts of the words that one message has
		for i, m := range slices.Concat(turn.Messages, before) {
			part := coverage(words, wordsOf(m.Content))
			switch isBefore := i >= len(turn.Messages); {
			case !turn.IsOthers(m) && isBefore:
				earlier = max(earlier, part)
			case !turn.IsOthers(m):
				own = max(own, part)
			case !scorer.Asks(m.Content):
				others = max(others, part)
				if !isBefore {
					about = max(about, coverage(words, wordsOf(aboutUser(turn, m))))
				}
			}
		}
		speaker, _ := statedBy(c.Content, turn)
		return others > max(own, about, earlier) || speaker != "" && earlier > about
	})
}

// wordsOf returns the lexemes of a text and all words between its spaces: two persons who speak of the same thing often
// differ in small words alone.
func wordsOf(s string) map[string]bool {
	words := set(text.Lexemes(s))
	for _, word := range strings.Fields(strings.ToLower(s)) {
		words[strings.TrimFunc(word, unicode.IsPunct)] = true
	}
	return words
}
