package asked

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"

	"hippocampus/internal/lang/function"
)

//go:embed open.txt
var openList string

// open are the words of questions for whatever happened or is planned.
var open = sync.OnceValue(func() (words struct {
	english map[string]bool
	cut     *strings.Replacer // of phrases and Chinese words
}) {
	words.english = map[string]bool{}
	var cut []string
	for line := range strings.Lines(openList) {
		switch list := strings.Fields(line); {
		case len(list) == 0:
		case list[0] == "english":
			for _, word := range list[1:] {
				words.english[word] = true
			}
		case list[0] == "phrase", list[0] == "chinese":
			cut = append(cut, list[1:]...)
		}
	}
	slices.SortStableFunc(cut, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var pairs []string
	for _, word := range cut {
		pairs = append(pairs, strings.ReplaceAll(word, "_", " "), " ")
	}
	words.cut = strings.NewReplacer(pairs...)
	return words
})

// ForAnything reports whether a question, taken without the times that it names, asks for whatever happened or is
// planned: "What do I have on?", 有什么安排？ It names nothing that a memory could say.
func ForAnything(question string) bool {
	words := open()
	question = words.cut.Replace(strings.ToLower(question))
	for word := range strings.FieldsFuncSeq(question, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if !words.english[word] && !function.Is(word) {
			return false
		}
	}
	return true
}
