package grounding

import (
	"slices"
	"strings"

	"hippocampus/internal/text"
)

// listedNames returns the names of a list, one a line, in plain form.
func listedNames(list string) (names []string) {
	for line := range strings.Lines(list) {
		if name := strings.TrimSpace(plain(line)); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// isOfUser reports whether a fact is about the user or something of the user, and not about a person or thing that the
// user's own words name: "The user lives in Ohio", "The user's name is Rex", but not "The user's sister lives in Ohio"
// after "My sister wrote this".
func (t *Talk) isOfUser(fact string) bool {
	said := plain(fact)
	for _, name := range slices.Concat(cues["user"], t.names) {
		rest, ok := strings.CutPrefix(said, name)
		if !ok {
			continue
		}
		if thing, ok := strings.CutPrefix(rest, "的"); ok {
			return !t.own.contains(startOf(thing))
		}
		if thing, ok := strings.CutPrefix(rest, "'s "); ok {
			words := text.Lexemes(thing)
			return len(words) == 0 || !t.own.lexemes[words[0]]
		}
		return rest == "" || name[0] >= 0x80 || strings.IndexByte(" ,.", rest[0]) >= 0
	}
	return false
}
