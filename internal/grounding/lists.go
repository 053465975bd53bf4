package grounding

import (
	_ "embed"
	"strings"
	"unicode"
	"unicode/utf8"
)

//go:embed cues.txt
var cuesFile string

var cues = func() map[string][]string {
	lists := map[string][]string{}
	for _, entry := range entriesOf(cuesFile) {
		lists[entry.left] = append(lists[entry.left], listed(entry.right)...)
	}
	return lists
}()

// entry is a line of a word list: "left = right".
type entry struct{ left, right string }

// entriesOf reads the lines of a word list, without comments and empty lines.
func entriesOf(file string) (entries []entry) {
	for line := range strings.Lines(file) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		left, right, _ := strings.Cut(line, "=")
		entries = append(entries, entry{strings.TrimSpace(left), strings.TrimSpace(right)})
	}
	return entries
}

// listed splits words and phrases at commas.
func listed(s string) (words []string) {
	for w := range strings.SplitSeq(s, ",") {
		if w = plain(strings.TrimSpace(w)); w != "" {
			words = append(words, w)
		}
	}
	return words
}

func isHan(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return unicode.Is(unicode.Han, r)
}
