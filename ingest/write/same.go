package write

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"hippocampus/internal/memory"
)

// same merges a draft into a memory that says it in the same words: the oldest of several.
func same(d Draft, known []*memory.Memory) (change, bool) {
	var found *memory.Memory
	for _, m := range known {
		if m.Status == memory.Active && sameWords(m.Content, d.Content) && (found == nil || older(m, found)) {
			found = m
		}
	}
	switch {
	case found == nil:
		return change{}, false
	case found.Content == d.Content:
		return change{draft: d.Memory, into: found, similarity: 1, verdict: memory.Duplicate,
			reason: "an active memory says exactly this"}, true
	}
	if d.Least > 0 {
		d.Content = found.Content
	}
	return change{draft: d.Memory, into: found, similarity: 1, verdict: memory.Merged,
		reason: "an active memory says this in the same words"}, true
}

// statesTheSame reports whether one of the memories says what a draft says in the same words.
func statesTheSame(memories []memory.Memory, draft memory.Memory) bool {
	return slices.ContainsFunc(memories, func(m memory.Memory) bool {
		return alike(&m, &draft) && sameWords(m.Content, draft.Content)
	})
}

// sameWords reports whether two texts are equal except for case, width, spaces and the marks at their ends.
func sameWords(a, b string) bool { return a == b || plainWords(a) == plainWords(b) }

func plainWords(s string) string {
	s = strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(s))), " ")
	return strings.TrimRight(s, ".!?。！？ ")
}
