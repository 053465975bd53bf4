package grounding

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"sync"

	"hippocampus/internal/text"
)

var (
	//go:embed relatives.txt
	relativesFile string
	//go:embed conditions.txt
	conditionsFile string
	//go:embed occupations.txt
	occupationsFile string
	//go:embed traits.txt
	traitsFile string
)

// term is a word or phrase that a fact may have only if a line has it or an equivalent.
type term struct {
	word    string
	form    string   // as joined lexemes between spaces, or the Han characters
	sources []string // forms of the term and of its equivalents
	isFound bool     // a conclusion may find it in what was said
}

// terms are those of relatives.txt, conditions.txt, occupations.txt and traits.txt: the Latin ones by their first
// lexeme, and the Han ones, each longest first.
var terms = sync.OnceValue(func() (t struct {
	latin map[string][]term
	han   []term
}) {
	t.latin = map[string][]term{}
	entries := entriesOf(relativesFile + "\n" + conditionsFile)
	given := len(entries)
	entries = append(entries, entriesOf(occupationsFile+"\n"+traitsFile)...)
	sources := map[string][]string{} // a word may have several lines
	isFound := map[string]bool{}
	for i, e := range entries {
		words := listed(e.left)
		for _, w := range words {
			isFound[w] = i >= given
			for _, source := range slices.Concat(words, listed(e.right)) {
				sources[w] = append(sources[w], formOf(source))
			}
		}
	}
	for w := range sources {
		one := term{word: w, form: formOf(w), sources: sources[w], isFound: isFound[w]}
		if isHan(w) {
			t.han = append(t.han, one)
			continue
		}
		first, _, _ := strings.Cut(strings.TrimSpace(one.form), " ")
		t.latin[first] = append(t.latin[first], one)
	}
	longestFirst := func(a, b term) int {
		return cmp.Or(len(b.form)-len(a.form), strings.Compare(a.word, b.word))
	}
	slices.SortFunc(t.han, longestFirst)
	for _, of := range t.latin {
		slices.SortFunc(of, longestFirst)
	}
	return t
})

func formOf(word string) string {
	if isHan(word) {
		return word
	}
	return " " + strings.Join(text.Lexemes(word), " ") + " "
}

// missingTerms returns the terms of a statement that no source has. In other languages than English and Chinese, a word
// is a term by accident.
func (has Evidence) missingTerms(statement string, isConclusion bool) (missing []string) {
	if has.isForeign(statement) {
		return nil
	}
	lexemes := text.Lexemes(statement)
	for i := 0; i < len(lexemes); {
		rest := " " + strings.Join(lexemes[i:min(len(lexemes), i+4)], " ") + " "
		i++
		for _, t := range terms().latin[lexemes[i-1]] {
			if !strings.HasPrefix(rest, t.form) {
				continue
			}
			if !(t.isFound && isConclusion) && !has.any(t.sources) && !slices.Contains(missing, t.word) {
				missing = append(missing, t.word)
			}
			i += strings.Count(t.form, " ") - 2
			break
		}
	}
	han := hanOf(statement)
	for _, t := range terms().han {
		if strings.Contains(han, t.form) {
			han = strings.ReplaceAll(han, t.form, " ")
			if !(t.isFound && isConclusion) && !has.any(t.sources) {
				missing = append(missing, t.word)
			}
		}
	}
	return missing
}

// any reports whether a source has one of some forms.
func (has Evidence) any(forms []string) bool {
	return slices.ContainsFunc(forms, func(form string) bool {
		if form[0] != ' ' {
			return has.contains(form)
		}
		if word := strings.TrimSpace(form); !strings.Contains(word, " ") {
			return has.lexemes[word]
		}
		return slices.ContainsFunc(has.joined, func(line string) bool { return strings.Contains(line, form) })
	})
}
