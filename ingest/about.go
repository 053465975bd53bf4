package ingest

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// aboutUser returns the sentences of another participant's message that speak of the user of a turn: those with the user's
// name, and those that go on with a pronoun. A sentence that merely addresses the user counts if it says "you".
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
	thirdPerson  = regexp.MustCompile(`(?i)^\s*(?:(?:she|he|they|her|his|their)\b|[她他]|ta\b)`)
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

// withoutOthers returns candidates without those that another participant states about another person than the user.
func withoutOthers(turn memory.Turn, candidates []memory.Candidate) []memory.Candidate {
	if !turn.Shared.Is() {
		return candidates
	}
	return slices.DeleteFunc(candidates, func(c memory.Candidate) bool {
		speaker, _ := statedBy(c.Content, turn)
		if speaker == "" {
			return false
		}
		words := set(text.Lexemes(c.Content))
		about, whole := 0.0, 0.0
		for _, m := range turn.Messages {
			if turn.IsOthers(m) && memory.SpeakerOf(m.Role, m.Name) == speaker {
				about = max(about, coverage(words, set(text.Lexemes(aboutUser(turn, m)))))
				whole = max(whole, coverage(words, set(text.Lexemes(m.Content))))
			}
		}
		return about == 0 || about < whole
	})
}
