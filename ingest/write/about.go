package write

import (
	"regexp"
	"strings"
)

// inFirstPerson returns what another participant has said of a user with a name as the user would say it, if the
// statement begins with the name: "Ana likes tea." becomes "I like tea.", and 安娜喜欢茶 becomes 我喜欢茶.
func inFirstPerson(statement, name string) string {
	rest, found := strings.CutPrefix(strings.TrimSpace(statement), name)
	if !found {
		return statement
	}
	if own, isOwn := strings.CutPrefix(rest, "'s "); isOwn {
		return "My " + own
	}
	after, isSpaced := strings.CutPrefix(rest, " ")
	if !isSpaced {
		return "我" + rest
	}
	verb := leadingWord.FindString(after)
	return "I " + ofFirstPerson(verb) + after[len(verb):]
}

var leadingWord = regexp.MustCompile(`^[a-z]+(?:n't)?`)

// ofFirstPerson returns the first person of an English verb in the third.
func ofFirstPerson(verb string) string {
	switch verb {
	case "is":
		return "am"
	case "isn't":
		return "am not"
	case "has":
		return "have"
	case "was", "always":
		return verb
	case "goes", "does", "watches", "teaches", "misses":
		return strings.TrimSuffix(verb, "es")
	}
	if stem, found := strings.CutSuffix(strings.TrimSuffix(verb, "n't"), "ies"); found {
		return stem + "y"
	}
	return strings.Replace(strings.TrimSuffix(verb, "s"), "doesn't", "don't", 1)
}
