// Package todo reads statements of what is still to be done, and questions for that, in English and Chinese:
//
//	"I still have to send the invoice to Greta." -> Open
//	"I sent the invoice."                        -> Done
//	"What's on my to-do list?"                   -> Everything
//	"What do I still have to do for Greta?"      -> OfTopic
package todo

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"

	"hippocampus/internal/lang/function"
	"hippocampus/internal/lazyregexp"
)

// State is what a statement says of something to be done.
type State uint8

// The states.
const (
	Nothing State = iota
	Open          // it is still to be done
	Done          // something has been done, whether or not it was to be done
)

// Asked is what a question asks for.
type Asked int

// The kinds of question.
const (
	NotAsked   Asked = iota
	OfTopic          // what is still to be done about something
	Everything       // all that is still to be done
)

//go:embed words.txt
var list string

var apostrophes = strings.NewReplacer("’", "'", "‘", "'")

// words holds words.txt.
type words struct {
	patterns map[string]*lazyregexp.Regexp
	names    map[string]bool
	cut      *strings.Replacer
}

var read = sync.OnceValue(func() words {
	w := words{map[string]*lazyregexp.Regexp{}, map[string]bool{}, nil}
	patterns := map[string][]string{}
	var cut []string
	for line := range strings.Lines(list) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch kind {
		case "", "#":
		case "name":
			for _, word := range strings.Fields(rest) {
				w.names[word] = true
			}
		case "cut":
			cut = append(cut, strings.Fields(rest)...)
		default:
			patterns[kind] = append(patterns[kind], rest)
		}
	}
	for kind, of := range patterns {
		w.patterns[kind] = lazyregexp.New(strings.Join(of, "|"))
	}
	slices.SortStableFunc(cut, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var pairs []string
	for _, word := range cut {
		pairs = append(pairs, word, " ")
	}
	w.cut = strings.NewReplacer(pairs...)
	return w
})

func plain(s string) string {
	return apostrophes.Replace(strings.ToLower(strings.Trim(s, " .。!！\n")))
}

// Of returns what a statement says. A question says nothing.
func Of(statement string) State {
	w, said := read(), plain(statement)
	switch {
	case strings.ContainsAny(said, "?？"):
		return Nothing
	case w.patterns["open"].MatchString(said) && !w.patterns["never"].MatchString(said):
		return Open
	case w.patterns["done"].MatchString(said):
		return Done
	}
	return Nothing
}

// For returns whether a question asks for what its speaker still has to do.
func For(question string) Asked {
	w, question := read(), plain(question)
	if !w.patterns["asks"].MatchString(question) {
		return NotAsked
	}
	for word := range strings.FieldsFuncSeq(w.cut.Replace(question), func(r rune) bool {
		return !unicode.IsLetter(r) && r != '-' && r != '\''
	}) {
		if !w.names[word] && !function.Is(word) && !strings.HasPrefix(word, "i'") {
			return OfTopic
		}
	}
	return Everything
}
