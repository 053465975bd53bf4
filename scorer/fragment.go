package scorer

import (
	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// maxFragment is the most lexemes of an answer that may be a fragment.
const maxFragment = 2

var (
	firstPerson = lazyregexp.New(`(?i)\b(?:i|my|mine|me|we|our|ours|us)\b|我|咱|俺`)
	asking      = lazyregexp.New(`[?？]|[吗呢][。.!！ \n]*$`)
)

// Asks reports whether a message holds a question.
func Asks(content string) bool { return asking.MatchString(content) }

// isFragment reports whether a message says something only with the question before it, such as "Biscuit." and 团子。
func isFragment(m, before memory.Message) bool {
	return Asks(before.Content) && !firstPerson.MatchString(m.Content) &&
		len(text.Lexemes(m.Content)) <= maxFragment
}

// weaken lowers the importance of facts to less than the gate's default threshold.
func weaken(facts []Fact) {
	for i := range facts {
		facts[i].Importance = min(facts[i].Importance, weak)
	}
}
