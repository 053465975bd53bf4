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

// kind is how a text is recognised.
type kind struct {
	hints   []string           // a text without any of them is not matched with english; nil: it always is
	english *lazyregexp.Regexp // nil: it has no such pattern
	chinese *lazyregexp.Regexp
}

// words holds words.txt.
type words struct {
	open, never, done, asks kind
	doneWords, names        map[string]bool
	cut                     *strings.Replacer
}

var read = sync.OnceValue(func() words {
	lists := map[string][]string{}
	for line := range strings.Lines(list) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch name {
		case "", "#":
		case "open", "never", "done", "asks":
			if strings.ContainsFunc(rest, isHan) {
				name += "-chinese"
			}
			lists[name] = append(lists[name], rest)
		default:
			lists[name] = append(lists[name], strings.Fields(rest)...)
		}
	}
	pattern := func(name string) *lazyregexp.Regexp {
		if lists[name] == nil {
			return nil
		}
		return lazyregexp.New(strings.Join(lists[name], "|"))
	}
	of := func(name string) kind {
		k := kind{english: pattern(name), chinese: pattern(name + "-chinese")}
		for _, hint := range lists["hint-"+name] {
			k.hints = append(k.hints, strings.ReplaceAll(hint, "_", " "))
		}
		return k
	}
	cut := lists["cut"]
	slices.SortStableFunc(cut, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var pairs []string
	for _, word := range cut {
		pairs = append(pairs, word, " ")
	}
	return words{
		open: of("open"), never: of("never"), done: of("done"), asks: of("asks"),
		doneWords: setOf(lists["done-word"]), names: setOf(lists["name"]), cut: strings.NewReplacer(pairs...),
	}
})

func setOf(list []string) map[string]bool {
	set := map[string]bool{}
	for _, word := range list {
		set[word] = true
	}
	return set
}

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }

// matches reports whether a text is of a kind. Most texts have no hint, and take a microsecond.
func (k *kind) matches(said string) bool {
	hasHint := func(hint string) bool { return strings.Contains(said, hint) }
	if k.english != nil && (k.hints == nil || slices.ContainsFunc(k.hints, hasHint)) && k.english.MatchString(said) {
		return true
	}
	return k.chinese != nil && strings.ContainsFunc(said, isHan) && k.chinese.MatchString(said)
}

func plain(s string) string {
	return apostrophes.Replace(strings.ToLower(strings.Trim(s, " .。!！\n")))
}

// Of returns what a statement says. A question says nothing.
func Of(statement string) State {
	w, said := read(), plain(statement)
	switch {
	case strings.ContainsAny(said, "?？"):
		return Nothing
	case w.open.matches(said) && !w.never.matches(said):
		return Open
	case w.saysDone(said):
		return Done
	}
	return Nothing
}

func (w *words) saysDone(said string) bool {
	for word := range strings.FieldsFuncSeq(said, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if w.doneWords[word] {
			return true
		}
		if stem, isPast := strings.CutSuffix(word, "ed"); isPast && stem != "" && !strings.HasSuffix(stem, "e") {
			return true
		}
	}
	return w.done.matches(said)
}

// For returns whether a question asks for what its speaker still has to do.
func For(question string) Asked {
	w, question := read(), plain(question)
	if !w.asks.matches(question) {
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
